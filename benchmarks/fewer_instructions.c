/* Hide instructions that this processor has from the libraries in this process, which ask it by CPUID.

   Linux lets a process trap that instruction on processors that can; the trap answers for it, with the bits of what
   is to be hidden taken out. So all libraries are measured as on a lesser machine, and none needs to know of it. */

#define _GNU_SOURCE
#include <cpuid.h>
#include <signal.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#define ARCH_SET_CPUID 0x1012
#define BIT(n) (UINT32_C(1) << (n))

/* The bits of AVX-512 in leaf 7. */
#define AVX512_B (BIT(16) | BIT(17) | BIT(21) | BIT(26) | BIT(27) | BIT(28) | BIT(30) | BIT(31))
#define AVX512_C (BIT(1) | BIT(6) | BIT(11) | BIT(12) | BIT(14))
#define AVX512_D (BIT(2) | BIT(3) | BIT(8) | BIT(23))

static int hide_avx_too;

static void answer(int number, siginfo_t *info, void *context) {
    greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
    const unsigned char *code = (const unsigned char *)registers[REG_RIP];
    uint32_t leaf = registers[REG_RAX], sub = registers[REG_RCX], a, b, c, d;
    (void)info;
    if (code[0] != 0x0f || code[1] != 0xa2) {
        signal(number, SIG_DFL); /* another fault: it comes again, and ends the process */
        return;
    }
    syscall(SYS_arch_prctl, ARCH_SET_CPUID, 1);
    __cpuid_count(leaf, sub, a, b, c, d);
    syscall(SYS_arch_prctl, ARCH_SET_CPUID, 0);
    if (leaf == 7 && sub == 0) {
        b &= ~AVX512_B;
        c &= ~AVX512_C;
        d &= ~AVX512_D;
    }
    if (leaf == 7 && sub == 1)
        a &= ~BIT(5); /* AVX-512 of bfloat16 */
    if (hide_avx_too) {
        if (leaf == 1)
            c &= ~(BIT(12) | BIT(26) | BIT(27) | BIT(28) | BIT(29)); /* FMA, XSAVE, OSXSAVE, AVX, F16C */
        if (leaf == 7 && sub == 0) {
            b &= ~(BIT(3) | BIT(5) | BIT(8));     /* BMI1, AVX2, BMI2 */
            c &= ~(BIT(8) | BIT(9) | BIT(10));    /* GFNI, VAES, VPCLMULQDQ */
        }
        if (leaf == 7 && sub == 1)
            a &= ~(BIT(4) | BIT(23)); /* AVX-VNNI, AVX-IFMA */
        if (leaf == UINT32_C(0x80000001))
            c &= ~BIT(5); /* LZCNT */
    }
    registers[REG_RAX] = a;
    registers[REG_RBX] = b;
    registers[REG_RCX] = c;
    registers[REG_RDX] = d;
    registers[REG_RIP] += 2;
}

/* Hides AVX-512, and AVX, AVX2, BMI and what came with them too if asked. Gives 0, or -1 where it cannot be done. */
int hide(int avx_too) {
    struct sigaction action = {.sa_sigaction = answer, .sa_flags = SA_SIGINFO};
    hide_avx_too = avx_too;
    if (sigaction(SIGSEGV, &action, 0) != 0)
        return -1;
    return syscall(SYS_arch_prctl, ARCH_SET_CPUID, 0) == 0 ? 0 : -1;
}

/* What a library sees: bit 0 for AVX2, bit 1 for AVX-512. */
int seen(void) {
    uint32_t a, b, c, d;
    __cpuid_count(7, 0, a, b, c, d);
    return (b >> 5 & 1) | (b >> 16 & 1) << 1;
}
