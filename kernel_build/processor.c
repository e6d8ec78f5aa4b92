/* The level of this processor, asked when a library is loaded. It needs no more than the lowest level itself. */
#if defined(__x86_64__) || defined(_M_X64)
#include <cpuid.h>

static int system_keeps(unsigned wanted)
{
    unsigned low, high;
    __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (low & wanted) == wanted;
}

static int counts_leading_zeros(void)
{
    unsigned a, b, c, d;
    return __get_cpuid(0x80000001, &a, &b, &c, &d) && c & 1u << 5;
}

__attribute__((visibility("default"))) int classgram_level(void)
{
    const unsigned fma = 1u << 12, sse4 = 3u << 19, movbe_popcnt = 3u << 22, xsave_avx_f16c = 7u << 27;
    const unsigned bmi1_avx2_bmi2 = 1u << 3 | 1u << 5 | 1u << 8;
    const unsigned avx512 = 1u << 16 | 1u << 17 | 1u << 28 | 1u << 30 | 1u << 31;
    unsigned a, b, c, d, more;
    if (!__get_cpuid(1, &a, &b, &c, &d) || (c & sse4) != sse4 || !(c & 1u << 23))
        return 1;
    more = fma | movbe_popcnt | xsave_avx_f16c;
    if ((c & more) != more || !system_keeps(0x6) || !__get_cpuid_count(7, 0, &a, &b, &c, &d))
        return 2;
    if ((b & bmi1_avx2_bmi2) != bmi1_avx2_bmi2 || !counts_leading_zeros())
        return 2;
    return (b & avx512) == avx512 && system_keeps(0xe6) ? 4 : 3;
}
#else
__attribute__((visibility("default"))) int classgram_level(void)
{
    return 1;
}
#endif
