// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

/// @title Roots of the eligibility tree that a proof may refer to (protocol §4).
/// @dev Field elements cross the ABI as bytes32, big-endian, and are below r.
interface IEligibilityRegistry {
    /// @notice A root was published and is now the current one.
    /// @param root The new current root.
    /// @param epoch The epoch it belongs to.
    /// @param replaced The root it replaced, or 0.
    /// @param replacedExpiresAt Unix second at which the replaced root stops being accepted, or 0.
    event RootPublished(bytes32 indexed root, uint64 indexed epoch, bytes32 replaced, uint64 replacedExpiresAt);

    /// @notice Every root published so far was cut off.
    /// @param epoch The new epoch, in which nothing is accepted until the next publication.
    event RootsRevoked(uint64 indexed epoch);

    /// @notice The zero root stands for "no eligibility tree" and can never be published.
    error ZeroEligibilityRoot();
    /// @notice The administrator or the publisher is missing.
    error ZeroAddress();
    /// @notice Less than 3,000 seconds, or more than a day.
    error GracePeriodOutOfRange(uint64 gracePeriod);
    /// @notice The root is not a canonical field element.
    error EligibilityRootOutOfRange(bytes32 root);

    /// @notice Makes `root` the current root; the replaced one stays accepted for the grace period.
    /// Only the gate's publisher role.
    function publish(bytes32 root) external;

    /// @notice Starts a new epoch: no older root, the current one included, is accepted any more.
    /// Only the gate's publisher role.
    function revoke() external;

    /// @notice Whether a proof against `root` may settle now. False for 0.
    function accepted(bytes32 root) external view returns (bool);

    /// @notice The root published last, or 0. It is accepted unless its epoch was revoked.
    function current() external view returns (bytes32);

    /// @notice Counts revocations, from 1.
    function epoch() external view returns (uint64);

    /// @notice Seconds for which a replaced root stays accepted.
    function gracePeriodSeconds() external view returns (uint64);
}
