/* Which operation runs next, when several may. */
#include "internal.h"

uint64_t vci_random(void)
{
    /* A 64-bit mix of a counter: any seed is as good as any other. */
    uint64_t x = vc.seed * UINT64_C(0x9e3779b97f4a7c15) + ++vc.random;
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

static int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

int64_t vci_start_of(const vc_op *op)
{
    int64_t start = later(op->submitted, op->stream->tail);
    for (int i = 0; i < op->after_count; i++)
        start = later(start, op->after[i]->end);
    switch (op->kind) {
    case VC_COPY_IN:
        return later(start, op->gpu->in_free);
    case VC_COPY_OUT:
        return later(start, op->gpu->out_free);
    case VC_COPY_PEER:
        return later(start, later(op->gpu->in_free, op->peer->out_free));
    case VC_COPY_DEVICE:
    case VC_FILL:
    case VC_KERNEL:
        return later(start, op->context->compute_free);
    default:
        return start;
    }
}

/* The GPUs whose queues the target may have to wait for, a bit each. Only their work is run, so
 * that threads that drive different GPUs do not disturb each other's times. */
static unsigned int devices_of(const vc_op *target)
{
    unsigned int known = 1u << target->context->gpu->index, before;
    do {
        before = known;
        for (const vc_stream *stream = vc.streams; stream; stream = stream->next) {
            if (!(known >> stream->object.context->gpu->index & 1))
                continue;
            for (const vc_op *op = stream->head; op; op = op->next)
                for (int i = 0; i < op->after_count; i++)
                    known |= 1u << op->after[i]->context->gpu->index;
        }
    } while (known != before);
    return known;
}

/* By time: the earliest start, and of equals the first submitted. */
static vc_op *earliest(const vc_op *target, int64_t not_after)
{
    unsigned int devices = devices_of(target);
    vc_op *best = NULL;
    int64_t best_start = not_after;
    for (vc_stream *stream = vc.streams; stream; stream = stream->next) {
        vc_op *op = stream->head;
        if (!op || !(devices >> op->context->gpu->index & 1) || !vci_ready(op))
            continue;
        int64_t start = vci_start_of(op);
        if (start < best_start || (start == best_start && (!best || op->number < best->number))) {
            best = op;
            best_start = start;
        }
    }
    return best;
}

vc_op *vci_choose(const vc_op *target, int64_t not_after)
{
    vc_op *best = NULL;
    uint64_t seen = 0;
    if (vc.mode == VC_TIME)
        return earliest(target, not_after);
    for (vc_stream *stream = vc.streams; stream; stream = stream->next) {
        vc_op *op = stream->head;
        if (!op || !vci_ready(op))
            continue;
        seen++;
        bool better =
            vc.mode == VC_LIFO ? !best || op->number > best->number : vci_random() % seen == 0;
        if (better)
            best = op;
    }
    return best;
}
