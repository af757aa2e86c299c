// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {Groth16Verifier} from "./Groth16Verifier.sol";

/// @title The verifier of any circuit, with the key that it is made with.
/// @notice For keys of a ceremony: one source for every circuit, so the code of a deployed verifier can be computed from the key
/// alone, without a compiler. Of points of G2, the imaginary part comes first.
contract KeyVerifier is Groth16Verifier {
    uint256 private immutable _alphaX;
    uint256 private immutable _alphaY;
    uint256 private immutable _betaX1;
    uint256 private immutable _betaX0;
    uint256 private immutable _betaY1;
    uint256 private immutable _betaY0;
    uint256 private immutable _gammaX1;
    uint256 private immutable _gammaX0;
    uint256 private immutable _gammaY1;
    uint256 private immutable _gammaY0;
    uint256 private immutable _deltaX1;
    uint256 private immutable _deltaX0;
    uint256 private immutable _deltaY1;
    uint256 private immutable _deltaY0;
    uint256 private immutable _ic0X;
    uint256 private immutable _ic0Y;
    uint256 private immutable _ic1X;
    uint256 private immutable _ic1Y;
    uint256 private immutable _ic2X;
    uint256 private immutable _ic2Y;
    uint256 private immutable _ic3X;
    uint256 private immutable _ic3Y;

    /// @param key α, β, γ, δ, IC_0 to IC_3.
    constructor(uint256[22] memory key) {
        _alphaX = key[0];
        _alphaY = key[1];
        _betaX1 = key[2];
        _betaX0 = key[3];
        _betaY1 = key[4];
        _betaY0 = key[5];
        _gammaX1 = key[6];
        _gammaX0 = key[7];
        _gammaY1 = key[8];
        _gammaY0 = key[9];
        _deltaX1 = key[10];
        _deltaX0 = key[11];
        _deltaY1 = key[12];
        _deltaY0 = key[13];
        _ic0X = key[14];
        _ic0Y = key[15];
        _ic1X = key[16];
        _ic1Y = key[17];
        _ic2X = key[18];
        _ic2Y = key[19];
        _ic3X = key[20];
        _ic3Y = key[21];
    }

    function _verificationKey() internal view override returns (uint256[22] memory key) {
        key[0] = _alphaX;
        key[1] = _alphaY;
        key[2] = _betaX1;
        key[3] = _betaX0;
        key[4] = _betaY1;
        key[5] = _betaY0;
        key[6] = _gammaX1;
        key[7] = _gammaX0;
        key[8] = _gammaY1;
        key[9] = _gammaY0;
        key[10] = _deltaX1;
        key[11] = _deltaX0;
        key[12] = _deltaY1;
        key[13] = _deltaY0;
        key[14] = _ic0X;
        key[15] = _ic0Y;
        key[16] = _ic1X;
        key[17] = _ic1Y;
        key[18] = _ic2X;
        key[19] = _ic2Y;
        key[20] = _ic3X;
        key[21] = _ic3Y;
    }
}
