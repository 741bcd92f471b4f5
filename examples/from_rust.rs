// SPDX-License-Identifier: BSD-3-Clause
//! A kernel of a compiled model in Rust: a library to which Python gives the address
//! of the kernel, and arrays.
//! Semi-implicit Euler steps from many starts, shared among threads.

use std::slice::{from_raw_parts, from_raw_parts_mut};

/// `kc_kernel` of kanecore.h: t, x, r, c, work, out.
type Kernel =
    unsafe extern "C" fn(f64, *const f64, *const f64, *const f64, *mut f64, *mut f64);

/// What threads share: it never changes.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Model {
    rhs: Kernel,
    n_q: usize,
    n_u: usize,
    n_r: usize,
    n_prepared: usize,
    n_work: usize,
}

/// Steps of `dt` from each of `rows` states, which become the ends; returns the
/// number of rows that failed.
///
/// # Safety
/// `r`, `c` and `states` have `n_r`, `n_prepared` and `rows * (n_q + n_u)` numbers, and
/// the model lives.
#[no_mangle]
pub unsafe extern "C" fn fall(
    model: Model,
    r: *const f64,
    c: *const f64,
    states: *mut f64,
    rows: usize,
    dt: f64,
    steps: usize,
) -> usize {
    let r = from_raw_parts(r, model.n_r);
    let c = from_raw_parts(c, model.n_prepared);
    let n_x = model.n_q + model.n_u;
    let states = from_raw_parts_mut(states, rows * n_x);
    std::thread::scope(|scope| {
        let parts: Vec<_> = states
            .chunks_mut(n_x * rows.div_ceil(4).max(1))
            .map(|part| {
                scope.spawn(move || {
                    part.chunks_mut(n_x)
                        .map(|x| row(&model, r, c, x, dt, steps))
                        .sum::<usize>()
                })
            })
            .collect();
        parts.into_iter().map(|part| part.join().unwrap()).sum()
    })
}

/// One row; 1 where the kernel finds no solution.
fn row(
    model: &Model,
    r: &[f64],
    c: &[f64],
    x: &mut [f64],
    dt: f64,
    steps: usize,
) -> usize {
    let (mut work, mut xdot) = (vec![0.0; model.n_work], vec![0.0; x.len()]);
    for step in 0..steps {
        work[0] = 0.0;
        let t = step as f64 * dt;
        unsafe {
            (model.rhs)(
                t,
                x.as_ptr(),
                r.as_ptr(),
                c.as_ptr(),
                work.as_mut_ptr(),
                xdot.as_mut_ptr(),
            )
        };
        if work[0] != 0.0 {
            return 1;
        }
        let (q, u) = x.split_at_mut(model.n_q);
        for (u, udot) in u.iter_mut().zip(&xdot[model.n_q..]) {
            *u += dt * udot;
        }
        for (q, u) in q.iter_mut().zip(u) {
            *q += dt * *u;
        }
    }
    0
}
