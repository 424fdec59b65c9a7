// Counts calls of the allocator, for LD_PRELOAD.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>

static long count = 0;

long allocation_count(void) { return __atomic_load_n(&count, __ATOMIC_RELAXED); }

extern void* __libc_malloc(size_t);
extern void* __libc_calloc(size_t, size_t);
extern void* __libc_realloc(void*, size_t);
extern void* __libc_memalign(size_t, size_t);

static void counted(void) { __atomic_add_fetch(&count, 1, __ATOMIC_RELAXED); }

void* malloc(size_t n) { counted(); return __libc_malloc(n); }
void* calloc(size_t n, size_t m) { counted(); return __libc_calloc(n, m); }
void* realloc(void* p, size_t n) { counted(); return __libc_realloc(p, n); }
void* aligned_alloc(size_t a, size_t n) { counted(); return __libc_memalign(a, n); }
int posix_memalign(void** p, size_t a, size_t n) { counted(); *p = __libc_memalign(a, n); return *p ? 0 : 12; }
