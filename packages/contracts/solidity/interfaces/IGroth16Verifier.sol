// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

/// @notice A Groth16 proof over BN254, in the coordinate order of the EVM's pairing precompile.
/// @param a Point of G1: x, y.
/// @param b Point of G2: x imaginary, x real; y imaginary, y real (the imaginary part comes first).
/// @param c Point of G1: x, y.
struct Groth16Proof {
    uint256[2] a;
    uint256[2][2] b;
    uint256[2] c;
}

/// @title Verifier of one circuit with the three compressed public inputs of protocol §5.
interface IGroth16Verifier {
    /// @notice The verification key comes from a setup whose secrets are public, so it is refused
    /// everywhere but on the development chains 31337 and 1337.
    error DevelopmentKeyOnPublicChain(uint256 chainId);

    /// @notice Checks a proof. Never reverts for a malformed proof: it answers false.
    /// @param proof The proof.
    /// @param digest D, the Poseidon digest of the full public vector; must be below r.
    /// @param z The evaluation point; must be below r.
    /// @param y The evaluation of the public vector at z; must be below r.
    /// @return True if and only if the proof is valid for (digest, z, y).
    function verify(Groth16Proof calldata proof, uint256 digest, uint256 z, uint256 y) external view returns (bool);
}

/// @notice A circuit's verifier, and the lengths of the arrays that the circuit proves. A pool keeps the list it was made with.
/// @param inputs Nullifiers of a spend; 0 for a circuit of `fund`.
/// @param outputs Commitments.
struct CircuitVerifier {
    uint64 inputs;
    uint64 outputs;
    IGroth16Verifier verifier;
}
