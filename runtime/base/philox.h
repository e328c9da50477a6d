/* Philox4x32-10 (Salmon, Moraes, Dror, Shaw: "Parallel Random Numbers: As Easy as 1, 2, 3", SC'11):
 * random bits as a function of (key, counter), the same wherever and in whatever order they are
 * asked for. The key is the seed, the counter a global index. */
#ifndef SYI_BASE_PHILOX_H
#define SYI_BASE_PHILOX_H

#include <stdint.h>

typedef struct syi_philox {
    uint32_t word[4];
} syi_philox;

static inline syi_philox syi_philox4x32(syi_philox counter, uint32_t key0, uint32_t key1)
{
    for (int round = 0; round < 10; round++) {
        uint64_t even = (uint64_t)0xD2511F53u * counter.word[0];
        uint64_t odd = (uint64_t)0xCD9E8D57u * counter.word[2];
        counter = (syi_philox){{(uint32_t)(odd >> 32) ^ counter.word[1] ^ key0, (uint32_t)odd,
                                (uint32_t)(even >> 32) ^ counter.word[3] ^ key1, (uint32_t)even}};
        key0 += 0x9E3779B9u;
        key1 += 0xBB67AE85u;
    }
    return counter;
}

/* 64 random bits of stream `stream` at `index`. */
static inline uint64_t syi_random(uint64_t seed, uint32_t stream, uint64_t index)
{
    syi_philox counter = {{(uint32_t)index, (uint32_t)(index >> 32), stream, 0}};
    counter = syi_philox4x32(counter, (uint32_t)seed, (uint32_t)(seed >> 32));
    return (uint64_t)counter.word[1] << 32 | counter.word[0];
}

#endif
