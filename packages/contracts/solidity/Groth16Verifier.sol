// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {Groth16Proof, IGroth16Verifier} from "./interfaces/IGroth16Verifier.sol";

/// @title Groth16 over BN254 with three public inputs (Groth 2016, section 3.2).
/// @notice A proof (A, B, C) holds for inputs (D, z, y) if and only if
/// `e(-A, B) · e(α, β) · e(IC_0 + D·IC_1 + z·IC_2 + y·IC_3, γ) · e(C, δ) = 1`.
/// The contracts in `generated/` are generated and hold nothing but the key of their circuit.
abstract contract Groth16Verifier is IGroth16Verifier {
    /// @dev Order of the scalar field: a public input must be canonical.
    uint256 private constant R = 0x30644e72e131a029b85045b68181585d2833e84879b9709143e1f593f0000001;
    /// @dev Modulus of the base field: negates a point.
    uint256 private constant Q = 0x30644e72e131a029b85045b68181585d97816a916871ca8d3c208c16d87cfd47;

    /// @dev The verification key, 22 words: α (2), β (4), γ (4), δ (4), IC_0 .. IC_3 (2 each); G2 points with
    /// the imaginary part first.
    function _verificationKey() internal view virtual returns (uint256[22] memory);

    /// @inheritdoc IGroth16Verifier
    function verify(Groth16Proof calldata proof, uint256 digest, uint256 z, uint256 y)
        external
        view
        returns (bool valid)
    {
        if (digest >= R || z >= R || y >= R) return false;
        uint256[22] memory key = _verificationKey();
        uint256[24] memory pairs;
        // The precompiles check every coordinate and every point; a failed call makes the answer false. It also
        // takes all the gas it was given: no limit is set here, because a later fork may price the calls anew.
        // Scratch: three words at the free memory pointer, which nothing else uses before this returns.
        assembly ("memory-safe") {
            /// `at` (a point) += scalar * the point at `base`
            function accumulate(at, base, scalar) -> ok {
                let free := mload(0x40)
                mcopy(free, base, 0x40)
                mstore(add(free, 0x40), scalar)
                // scalar * base lands behind a copy of the sum, so that both are the input of the addition
                ok := staticcall(gas(), 7, free, 0x60, add(free, 0x40), 0x40)
                mcopy(free, at, 0x40)
                ok := and(ok, staticcall(gas(), 6, free, 0x80, at, 0x40))
            }

            // -A, B. With y out of range the negation is out of range too, and the precompile refuses it.
            calldatacopy(pairs, proof, 0xc0)
            mstore(add(pairs, 0x20), sub(Q, mload(add(pairs, 0x20))))
            // α, β
            mcopy(add(pairs, 0xc0), key, 0xc0)
            // the public inputs' point, γ
            let inputs := add(pairs, 0x180)
            let points := add(key, 0x1c0)
            mcopy(inputs, points, 0x40)
            valid := accumulate(inputs, add(points, 0x40), digest)
            valid := and(valid, accumulate(inputs, add(points, 0x80), z))
            valid := and(valid, accumulate(inputs, add(points, 0xc0), y))
            mcopy(add(pairs, 0x1c0), add(key, 0xc0), 0x80)
            // C, δ
            calldatacopy(add(pairs, 0x240), add(proof, 0xc0), 0x40)
            mcopy(add(pairs, 0x280), add(key, 0x140), 0x80)

            mstore(0, 0)
            valid := and(valid, staticcall(gas(), 8, pairs, 0x300, 0, 0x20))
            valid := and(valid, eq(mload(0), 1))
        }
    }
}
