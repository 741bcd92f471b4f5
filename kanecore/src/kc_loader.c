/* SPDX-License-Identifier: BSD-3-Clause */
/* kc_loader.c: dlopen and its Windows counterpart. */
#include "kc_loader.h"

#include <stdio.h>
#include <string.h>

typedef const kc_model *get_model(void);

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
    return function();
}

#else

#include <dlfcn.h>

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

    library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL)
        return fail(message, size);
    symbol = dlsym(library, "kc_get_model");
    if (symbol == NULL)
        return fail(message, size);
    /* ISO C converts no object pointer to a function pointer; POSIX says they have one form. */
    memcpy(&function, &symbol, sizeof function);
    return function();
}

#endif
