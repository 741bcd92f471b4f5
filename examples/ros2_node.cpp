// SPDX-License-Identifier: BSD-3-Clause
// A plant in ROS 2: steps the RRP robot at 1 kHz by the efforts of /efforts,
// and publishes /joint_states.
// The files rrp.c and rrp.h are those of dyn.export_c("rrp_c").
#include "rrp.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>

#include <rclcpp/rclcpp.hpp>
#include <sensor_msgs/msg/joint_state.hpp>
#include <std_msgs/msg/float64_multi_array.hpp>

using Efforts = std_msgs::msg::Float64MultiArray;
using JointState = sensor_msgs::msg::JointState;

class Plant : public rclcpp::Node
{
  public:
    Plant() : Node("rrp_plant")
    {
        rrp_prepare(rrp_p_default, constants.data());
        state_publisher = create_publisher<JointState>("joint_states", 10);
        effort_subscription = create_subscription<Efforts>(
            "efforts", 1, [this](const Efforts &message) {
                if (message.data.size() == r.size())
                    std::copy(message.data.begin(), message.data.end(), r.begin());
            });
        timer = create_wall_timer(std::chrono::milliseconds(1), [this] { step(); });
    }

  private:
    void step()
    {
        std::array<double, rrp_n_x> next;
        const int status = rrp_step(time, dt, x.data(), r.data(), constants.data(),
                                    work.data(), next.data());
        if (status != rrp_ok) {
            RCLCPP_ERROR(get_logger(), "no next state: status %d", status);
            return;
        }
        x = next;
        time += dt;
        JointState message;
        message.header.stamp = now();
        message.name = {"theta1", "theta2", "d3"};
        message.position.assign(x.begin(), x.begin() + rrp_n_q);
        message.velocity.assign(x.begin() + rrp_n_q, x.end());
        state_publisher->publish(message);
    }

    const double dt = 1e-3;
    double time = 0.0;
    std::array<double, rrp_n_x> x{};
    std::array<double, rrp_n_r> r{};
    std::array<double, rrp_n_prepared> constants{};
    std::array<double, rrp_n_work> work{};
    rclcpp::Publisher<JointState>::SharedPtr state_publisher;
    rclcpp::Subscription<Efforts>::SharedPtr effort_subscription;
    rclcpp::TimerBase::SharedPtr timer;
};

int main(int argc, char **argv)
{
    rclcpp::init(argc, argv);
    rclcpp::spin(std::make_shared<Plant>());
    rclcpp::shutdown();
}
