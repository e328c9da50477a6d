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

static bool in_chunks(syi_passage passage, double elements)
{
    return passage.chunk > 0 && elements > passage.chunk;
}

double syi_cost_ns(const syi_cost *cost, syi_passage passage, double elements)
{
    double first = in_chunks(passage, elements) ? passage.chunk : elements;
    double sum = 0, longest = 0;
    for (int p = 0; p < SYI_PHASES; p++) {
        double ns = syi_curve_ns(&cost->phase[p], first);
        sum += ns;
        longest = ns > longest ? ns : longest;
    }
    if (first == elements)
        return sum;
    return sum + (passage.overlap ? longest : sum) * ((elements - first) / first);
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
