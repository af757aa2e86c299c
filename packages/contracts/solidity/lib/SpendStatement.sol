// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {SpendCall} from "../interfaces/IShieldedPool.sol";

/// @title The public vector of the spend circuits (protocol §6).
library SpendStatement {
    /// @notice D and x, in the order that the circuit has: assetId, withdrawAmount, recipient, deadline, the sealed notes'
    /// hash (lo, hi), outRoot, the nullifiers, the commitments, noteRoot, eligibilityRoot, W'x (lo, hi), W'y (lo, hi),
    /// m' (lo, hi), rSig (lo, hi).
    /// @dev Plain stores save 4,000 gas of bounds checks. The array takes the memory from the free pointer to the end of the
    /// last store. SpendStatement.t.sol compares every element with another implementation.
    /// @param assetId Of the token, from the pool's storage.
    /// @param sealedNotesHash keccak256 of the bytes that came with the call.
    /// @return words D, then x_0 ..: what `PublicInputs.compress` takes.
    function encode(uint256 assetId, SpendCall calldata operation, bytes32 sealedNotesHash)
        internal
        pure
        returns (uint256[] memory words)
    {
        uint256 position;
        assembly ("memory-safe") {
            words := mload(0x40)
            position := add(words, 0x20)
        }
        position = _put(position, operation.D);
        position = _put(position, assetId);
        position = _put(position, operation.withdrawAmount);
        position = _put(position, uint160(operation.recipient));
        position = _put(position, operation.deadline);
        position = _putHalves(position, uint256(sealedNotesHash));
        position = _put(position, operation.outRoot);
        position = _putAll(position, operation.nullifiers);
        position = _putAll(position, operation.commitments);
        position = _put(position, operation.noteRoot);
        position = _put(position, operation.eligibilityRoot);
        position = _putHalves(position, operation.maskedX);
        position = _putHalves(position, operation.maskedY);
        position = _putHalves(position, operation.maskedDigest);
        position = _putHalves(position, operation.rSig);
        assembly ("memory-safe") {
            mstore(words, shr(5, sub(position, add(words, 0x20))))
            mstore(0x40, position)
        }
    }

    function _put(uint256 position, uint256 value) private pure returns (uint256 next) {
        assembly ("memory-safe") {
            mstore(position, value)
            next := add(position, 0x20)
        }
    }

    function _putHalves(uint256 position, uint256 value) private pure returns (uint256 next) {
        assembly ("memory-safe") {
            mstore(position, shr(128, shl(128, value)))
            mstore(add(position, 0x20), shr(128, value))
            next := add(position, 0x40)
        }
    }

    function _putAll(uint256 position, uint256[] calldata values) private pure returns (uint256 next) {
        assembly ("memory-safe") {
            let size := shl(5, values.length)
            calldatacopy(position, values.offset, size)
            next := add(position, size)
        }
    }
}
