#include "model/cost.h"

syi_curve syi_curve_line(double fixed_ns, double per_element_ns)
{
    return (syi_curve){.pieces = 1, .fixed_ns = fixed_ns, .per_element_ns = {per_element_ns}};
}

double syi_curve_ns(const syi_curve *curve, double elements)
{
    double ns = curve->fixed_ns, from = 0;
    if (curve->pieces == 0 || !(elements > 0))
        return 0;
    for (int i = 0; i < curve->pieces; i++) {
        bool last = i == curve->pieces - 1 || elements <= curve->until[i];
        double to = last ? elements : curve->until[i];
        ns += (to - from) * curve->per_element_ns[i];
        if (last)
            break;
        from = to;
    }
    return ns;
}

double syi_cost_ns(const syi_cost *cost, double chunk, double elements)
{
    double first = chunk > 0 && elements > chunk ? chunk : elements, sum = 0;
    for (int p = 0; p < SYI_PHASES; p++)
        sum += syi_curve_ns(&cost->phase[p], first);
    return first == elements ? sum : sum * (elements / first);
}

double syi_cost_fixed_ns(const syi_cost *cost)
{
    double sum = 0;
    for (int p = 0; p < SYI_PHASES; p++)
        sum += cost->phase[p].pieces ? cost->phase[p].fixed_ns : 0;
    return sum;
}

double syi_cost_spread(const syi_cost *cost)
{
    double largest = 0;
    for (int p = 0; p < SYI_PHASES; p++)
        if (cost->phase[p].pieces && cost->phase[p].spread > largest)
            largest = cost->phase[p].spread;
    return largest;
}

void syi_cost_scale(syi_cost *cost, double factor)
{
    for (int p = 0; p < SYI_PHASES; p++) {
        cost->phase[p].fixed_ns *= factor;
        for (int i = 0; i < cost->phase[p].pieces; i++)
            cost->phase[p].per_element_ns[i] *= factor;
    }
}
