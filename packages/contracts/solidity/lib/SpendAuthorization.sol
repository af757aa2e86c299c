// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IShieldedPool, SpendCall} from "../interfaces/IShieldedPool.sol";

/// @title The holder's signature on a spend, without the holder's key (protocol §7).
/// @notice The holder's key W signs the digest m of the operation: (rSig, s, parity). The chain sees neither W nor m. It
/// sees W' = W + b̂·G and m' = m - rSig·b̂ mod n, and the proof shows that they belong together. With R the signature's
/// point, `s·R = m·G + rSig·W = m'·G + rSig·W'`: the signature is valid for m under W if and only if it is for m' under W'.
/// @dev The contract can compare addresses only, and an address has 160 bits. One comparison would not suffice: b is
/// free, so somebody who knows W and the note, but not the key, could search for b and a key q of their own with
/// address(W + b̂·G) = address(q·G), which takes 2^80 steps, and sign m' with q. Recovering from m' - rSig gives Q + G for
/// the same Q. Both addresses together have 320 bits, so the search takes 2^160 steps. SpendCollision.t.sol runs the
/// attack on shortened addresses. Do not remove either comparison.
library SpendAuthorization {
    /// @dev secp256k1: the base field, the group order, and the base point G.
    uint256 private constant P = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEFFFFFC2F;
    uint256 private constant N = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141;
    uint256 private constant GX = 0x79BE667EF9DCBBAC55A06295CE870B07029BFCDB2DCE28D959F2815B16F81798;
    uint256 private constant GY = 0x483ADA7726A3C4655DA4FBFC0E1108A8FD17B448A68554199C47D08FFB10D4B8;

    /// @notice Reverts unless the operation carries a signature by W' over m' and over m' - rSig as W' + G.
    function requireValid(SpendCall calldata operation) internal pure {
        requireValidUpTo(operation, type(uint160).max);
    }

    /// @notice The same on the bits of an address that `mask` has. The pool compares all of them, through
    /// `requireValid`; the test of the collision attack compares few.
    function requireValidUpTo(SpendCall calldata operation, uint160 mask) internal pure {
        (uint256 digest, uint256 rSig) = (operation.maskedDigest, operation.rSig);
        // An m' of n or more would be another spelling of the same digest, and rSig must not exceed n in the difference.
        if (digest >= N || rSig >= N || operation.parity > 1) revert IShieldedPool.SpendSignatureOutOfRange();
        (uint256 x, uint256 y) = (operation.maskedX, operation.maskedY);
        (uint256 shiftedX, uint256 shiftedY) = _addG(x, y, operation.slope);
        uint8 v = 27 + operation.parity;
        (bytes32 r, bytes32 s) = (bytes32(rSig), bytes32(operation.s));
        _requireSigner(ecrecover(bytes32(digest), v, r, s), x, y, mask);
        _requireSigner(ecrecover(bytes32(addmod(digest, N - rSig, N)), v, r, s), shiftedX, shiftedY, mask);
    }

    /// @dev W' + G by the slope of the line through both, which the caller gives: a division would cost far more. A W' that
    /// is not on the curve has no signature, and nobody but its owner's spend suffers.
    function _addG(uint256 x, uint256 y, uint256 slope) private pure returns (uint256 sumX, uint256 sumY) {
        if (x >= P || y >= P) revert IShieldedPool.MaskedKeyOutOfRange();
        // Every subtrahend is below P.
        unchecked {
            // With the same x every slope would pass for W' = G: the sum would be the caller's choice.
            bool isSlope = mulmod(slope, addmod(x, P - GX, P), P) == addmod(y, P - GY, P);
            if (x == GX || !isSlope) revert IShieldedPool.WrongSlope();
            sumX = addmod(mulmod(slope, slope, P), addmod(P - x, P - GX, P), P);
            sumY = addmod(mulmod(slope, addmod(x, P - sumX, P), P), P - y, P);
        }
    }

    /// @dev ecrecover answers 0 for what is no signature, and 0 is nobody's address.
    function _requireSigner(address signer, uint256 x, uint256 y, uint160 mask) private pure {
        uint256 expected;
        // An address is the end of the keccak256 of both coordinates. The scratch space has room for them.
        assembly ("memory-safe") {
            mstore(0, x)
            mstore(0x20, y)
            expected := keccak256(0, 0x40)
        }
        if (signer == address(0) || (uint160(signer) ^ uint160(expected)) & mask != 0) {
            revert IShieldedPool.InvalidSpendSignature();
        }
    }
}
