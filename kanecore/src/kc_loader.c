/* SPDX-License-Identifier: BSD-3-Clause */
/* kc_loader.c: opens a library by dlopen or its Windows counterpart; a truncated file is refused before. */
#include "kc_loader.h"

#include <stdio.h>
#include <string.h>

typedef const kc_model *get_model(void);

/* Result of kc_get_model() of a library. */
static const kc_model *table_of(get_model *function, char *message, size_t size)
{
    const kc_model *table = function();

    if (table == NULL)
        snprintf(message, size, "its kc_get_model() returns no table");
    return table;
}

#ifdef _WIN32

#include <windows.h>

static const kc_model *fail(char *message, size_t size, const char *what)
{
    snprintf(message, size, "%s: Windows error %lu", what, (unsigned long)GetLastError());
    return NULL;
}

const kc_model *kc_open_model(const char *path, char *message, size_t size)
{
    wchar_t wide[32768]; /* the longest path that Windows knows */
    HMODULE library;
    FARPROC symbol;
    get_model *function;

    if (MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, path, -1, wide, 32768) == 0)
        return fail(message, size, "the path cannot be converted");
    library = LoadLibraryExW(wide, NULL, LOAD_WITH_ALTERED_SEARCH_PATH);
    if (library == NULL)
        return fail(message, size, "the library cannot be loaded");
    symbol = GetProcAddress(library, "kc_get_model");
    if (symbol == NULL)
        return fail(message, size, "the library has no kc_get_model");
    memcpy(&function, &symbol, sizeof function);
    return table_of(function, message, size);
}

#else

#include <dlfcn.h>

#ifdef __linux__

#include <link.h>

/*
 * True if a file has all segments of its program headers.  The system maps segments without checking the end
 * of the file, and a process that reads past it is killed (SIGBUS), as dlopen() would be with a truncated
 * library. dlopen() itself refuses a file that is no ELF file, or that cannot be read.
 */
static int is_whole(const char *path)
{
    ElfW(Ehdr) head;
    ElfW(Phdr) segment;
    FILE *file = fopen(path, "rb");
    int whole = 1;

    if (file == NULL)
        return 1;
    if (fread(&head, sizeof head, 1, file) == 1 && memcmp(head.e_ident, ELFMAG, SELFMAG) == 0 &&
        head.e_phentsize == sizeof segment && fseek(file, 0, SEEK_END) == 0) {
        const uint64_t length = (uint64_t)ftell(file);
        for (int i = 0; whole && i < head.e_phnum; i++) {
            whole = head.e_phoff + (uint64_t)i * sizeof segment < length &&
                    fseek(file, (long)(head.e_phoff + (uint64_t)i * sizeof segment), SEEK_SET) == 0 &&
                    fread(&segment, sizeof segment, 1, file) == 1;
            whole = whole && (segment.p_type != PT_LOAD ||
                              (segment.p_offset <= length && segment.p_filesz <= length - segment.p_offset));
        }
    }
    fclose(file);
    return whole;
}

#else

static int is_whole(const char *path)
{
    return path != NULL; /* the loaders of other systems check this themselves */
}

#endif

static const kc_model *fail(char *message, size_t size)
{
    const char *words = dlerror();

    snprintf(message, size, "%s", words != NULL ? words : "unknown error of the dynamic loader");
    return NULL;
}

const kc_model *kc_open_model(const char *path, char *message, size_t size)
{
    void *library, *symbol;
    get_model *function;

    if (!is_whole(path)) {
        snprintf(message, size, "the file is cut off");
        return NULL;
    }
    library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL)
        return fail(message, size);
    symbol = dlsym(library, "kc_get_model");
    if (symbol == NULL)
        return fail(message, size);
    /* ISO C converts no object pointer to a function pointer; POSIX says they have one form. */
    memcpy(&function, &symbol, sizeof function);
    return table_of(function, message, size);
}

#endif
