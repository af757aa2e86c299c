// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {FundBatch} from "../interfaces/IShieldedPool.sol";

/// @title The public vector of the fund circuits (protocol §6).
library FundStatement {
    /// @dev Elements before the commitments.
    uint256 private constant HEAD = 5;

    /// @notice D and x, in the order that the circuit has: assetId, total, batchId, eligibilityRoot, batchRoot, c_0 ...
    /// @param assetId Of the token, from the pool's storage.
    /// @param batchId Computed from funder and nonce.
    /// @return words D, then x_0 ..: what `PublicInputs.compress` takes.
    function encode(uint256 assetId, bytes32 batchId, FundBatch calldata batch)
        internal
        pure
        returns (uint256[] memory words)
    {
        bytes32[] calldata commitments = batch.commitments;
        words = new uint256[](1 + HEAD + commitments.length);
        words[0] = uint256(batch.digest);
        words[1] = assetId;
        words[2] = batch.total;
        words[3] = uint256(batchId);
        words[4] = uint256(batch.eligibilityRoot);
        words[5] = uint256(batch.batchRoot);
        // Copies exactly the commitments behind the head, inside the array allocated above.
        assembly ("memory-safe") {
            let tail := add(words, mul(add(HEAD, 2), 0x20))
            calldatacopy(tail, commitments.offset, mul(commitments.length, 0x20))
        }
    }
}
