// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {AccessControl} from "@openzeppelin/contracts/access/AccessControl.sol";
import {IEligibilityRegistry} from "./interfaces/IEligibilityRegistry.sol";
import {PublicInputs} from "./lib/PublicInputs.sol";

/// @title Published roots of the gate's eligibility tree (protocol §4).
/// @notice Invariants:
/// E1. 0 is never accepted.
/// E2. After `revoke`, no root published before it is accepted, unless it is published again.
/// E3. The current root of the current epoch never expires.
/// E4. A replaced root is accepted for exactly the grace period.
contract EligibilityRegistry is IEligibilityRegistry, AccessControl {
    bytes32 public constant PUBLISHER_ROLE = keccak256("PUBLISHER_ROLE");

    struct RootRecord {
        uint64 epoch;
        uint64 expiresAt;
    }

    /// @dev As long as a transfer may take from its first read of the root to its last second: a shorter grace would fail
    /// honest transfers at each publication.
    uint64 private constant SHORTEST_GRACE = 3_000;
    /// @dev A wallet that was struck off stays payable for the grace period, unless the gate revokes.
    uint64 private constant LONGEST_GRACE = 1 days;

    uint64 public immutable gracePeriodSeconds;

    /// @dev Flag beside the current root, which needs 254 bits: one storage read says that it is accepted.
    uint256 private constant REVOKED = 1 << 255;

    /// @dev Starts at 1: an unknown root has epoch 0 and so is never accepted.
    uint64 public epoch = 1;
    /// @dev The root published last, with REVOKED since its epoch ended.
    uint256 private _current;
    mapping(bytes32 root => RootRecord) private _records;

    /// @param admin Grants and takes roles.
    /// @param publisher The gate's key.
    /// @param gracePeriod Seconds for which a replaced root stays accepted: 3,000 to 86,400.
    constructor(address admin, address publisher, uint64 gracePeriod) {
        if (admin == address(0) || publisher == address(0)) revert ZeroAddress();
        if (gracePeriod < SHORTEST_GRACE || gracePeriod > LONGEST_GRACE) revert GracePeriodOutOfRange(gracePeriod);
        gracePeriodSeconds = gracePeriod;
        _grantRole(DEFAULT_ADMIN_ROLE, admin);
        _grantRole(PUBLISHER_ROLE, publisher);
    }

    /// @inheritdoc IEligibilityRegistry
    function publish(bytes32 root) external onlyRole(PUBLISHER_ROLE) {
        if (root == 0) revert ZeroEligibilityRoot();
        if (uint256(root) >= PublicInputs.R) revert EligibilityRootOutOfRange(root);

        bytes32 replaced = current();
        uint64 replacedExpiresAt = 0;
        if (replaced != 0 && replaced != root) {
            replacedExpiresAt = uint64(block.timestamp) + gracePeriodSeconds;
            _records[replaced].expiresAt = replacedExpiresAt;
        }
        _records[root] = RootRecord({epoch: epoch, expiresAt: 0});
        _current = uint256(root);
        emit RootPublished(root, epoch, replaced, replacedExpiresAt);
    }

    /// @inheritdoc IEligibilityRegistry
    function revoke() external onlyRole(PUBLISHER_ROLE) {
        epoch += 1;
        _current |= REVOKED;
        emit RootsRevoked(epoch);
    }

    /// @inheritdoc IEligibilityRegistry
    function accepted(bytes32 root) external view returns (bool) {
        // Most proofs are made against the current root, which has no end and whose epoch is this one.
        if (uint256(root) == _current) return root != 0 && uint256(root) & REVOKED == 0;
        // Of all roots that were published, only the current one has no end: `publish` sets it for every root that it
        // replaces.
        RootRecord memory record = _records[root];
        return record.epoch == epoch && (record.expiresAt == 0 || block.timestamp < record.expiresAt);
    }

    /// @inheritdoc IEligibilityRegistry
    function current() public view returns (bytes32) {
        return bytes32(_current & ~REVOKED);
    }
}
