/* SPDX-License-Identifier: BSD-3-Clause */
/* pinocchio.cpp: articulated bodies by Pinocchio's headers, behind kernels of our signature. */
#include <memory>
#include <string>

#include <pinocchio/multibody.hpp>

#include <pinocchio/algorithm/aba-derivatives.hpp>
#include <pinocchio/algorithm/aba.hpp>

namespace
{
std::unique_ptr<pinocchio::Model> model;
std::unique_ptr<pinocchio::Data> data;

using Vector = Eigen::Map<const Eigen::VectorXd>;
using Rows = Eigen::Map<Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>;

void aba(const double *x, const double *tau, double *out, pinocchio::Convention convention)
{
    const auto &udot = pinocchio::aba(*model, *data, Vector(x, model->nq), Vector(x + model->nq, model->nv),
                                      Vector(tau, model->nv), convention);
    Eigen::Map<Eigen::VectorXd>(out, model->nv) = udot;
}
} // namespace

extern "C" {
/*
 * Gravity (3), the number of bodies, then of each: parent's number or -1, joint (0 revolute, 1 prismatic, 2
 * free), axis, place (3), seat (9, by rows), mass, mass centre (3), central inertia (9).
 */
void build(const double *p)
{
    using Matrix = Eigen::Map<const Eigen::Matrix<double, 3, 3, Eigen::RowMajor>>;
    using Vector = Eigen::Map<const Eigen::Vector3d>;

    model = std::make_unique<pinocchio::Model>();
    model->gravity.linear(Vector(p));
    std::vector<pinocchio::JointIndex> joints(static_cast<std::size_t>(p[3]));
    p += 4;
    for (std::size_t i = 0; i < joints.size(); i++, p += 28) {
        const auto parent = p[0] < 0 ? 0 : joints[static_cast<std::size_t>(p[0])];
        const pinocchio::SE3 place(Matrix(p + 6), Vector(p + 3));
        const std::string name = "joint" + std::to_string(i);
        const int axis = static_cast<int>(p[2]);
        auto add = [&](const auto &joint) { joints[i] = model->addJoint(parent, joint, place, name); };
        if (p[1] == 2)
            add(pinocchio::JointModelFreeFlyer());
        else if (p[1] == 1)
            axis == 0   ? add(pinocchio::JointModelPX())
            : axis == 1 ? add(pinocchio::JointModelPY())
                        : add(pinocchio::JointModelPZ());
        else
            axis == 0   ? add(pinocchio::JointModelRX())
            : axis == 1 ? add(pinocchio::JointModelRY())
                        : add(pinocchio::JointModelRZ());
        model->appendBodyToJoint(joints[i], pinocchio::Inertia(p[15], Vector(p + 16), Matrix(p + 19)),
                                 pinocchio::SE3::Identity());
    }
    data = std::make_unique<pinocchio::Data>(*model);
}

void aba_local(double, const double *x, const double *r, const double *, double *, double *out)
{
    aba(x, r, out, pinocchio::Convention::LOCAL);
}

void aba_world(double, const double *x, const double *r, const double *, double *, double *out)
{
    aba(x, r, out, pinocchio::Convention::WORLD);
}

/* The derivatives stay where Pinocchio's user finds them, in its data. */
void linearize(double, const double *x, const double *r, const double *, double *, double *)
{
    pinocchio::computeABADerivatives(*model, *data, Vector(x, model->nq), Vector(x + model->nq, model->nv),
                                     Vector(r, model->nv));
}

void mass_matrix_inverse(double, const double *x, const double *, const double *, double *, double *)
{
    pinocchio::computeMinverse(*model, *data, Vector(x, model->nq));
}

/* Copies of them: by q, then by v; the triangle of the inverse that is filled in, mirrored. */
void linearize_copied(double t, const double *x, const double *r, const double *c, double *work, double *out)
{
    linearize(t, x, r, c, work, out);
    Rows slopes(out, model->nv, 2 * model->nv);
    slopes << data->ddq_dq, data->ddq_dv;
}

void mass_matrix_inverse_copied(double t, const double *x, const double *r, const double *c, double *work,
                                double *out)
{
    mass_matrix_inverse(t, x, r, c, work, out);
    Rows inverse(out, model->nv, model->nv);
    inverse = data->Minv.selfadjointView<Eigen::Upper>();
}
}
