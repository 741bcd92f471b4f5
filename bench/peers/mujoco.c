/* SPDX-License-Identifier: BSD-3-Clause */
/* mujoco.c: forward dynamics by MuJoCo's C interface, behind a kernel of our signature. */
#include <string.h>

#include <mujoco/mujoco.h>

static mjModel *model;
static mjData *data;

void build(const char *path);
void forward(double t, const double *x, const double *r, const double *c, double *work, double *out);

void build(const char *path)
{
    char error[1000] = "";

    model = mj_loadXML(path, NULL, error, sizeof error);
    data = mj_makeData(model);
}

void forward(double t, const double *x, const double *r, const double *c, double *work, double *out)
{
    const size_t n = sizeof(double) * (size_t)model->nv;

    (void)t, (void)c, (void)work;
    memcpy(data->qpos, x, sizeof(double) * (size_t)model->nq);
    memcpy(data->qvel, x + model->nq, n);
    memcpy(data->qfrc_applied, r, n);
    mj_forward(model, data);
    memcpy(out, data->qacc, n);
}
