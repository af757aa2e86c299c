// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {Groth16Verifier} from "../../solidity/Groth16Verifier.sol";
import {Groth16Proof} from "../../solidity/interfaces/IGroth16Verifier.sol";

/// @dev The real verifier under a key whose secrets are known: every point of G1 is a known multiple of the
/// generator and every point of G2 is the generator. Whoever knows them can prove any statement,
/// so a test has a proof for whatever batch it makes up, while verification is exactly what production runs.
contract TrapdoorVerifier is Groth16Verifier {
    uint256 internal constant R = 0x30644e72e131a029b85045b68181585d2833e84879b9709143e1f593f0000001;
    uint256 internal constant ALPHA = 11;
    uint256 internal constant IC_0 = 2;
    uint256 internal constant IC_1 = 3;
    uint256 internal constant IC_2 = 5;
    uint256 internal constant IC_3 = 7;
    /// @dev C as a multiple of the generator: large, so that a proof has as many non-zero bytes as a real one.
    uint256 internal constant C = uint256(keccak256("C")) % R;

    /// @dev In the form of the generated verifiers, so that it costs the same.
    function _verificationKey() internal pure override returns (uint256[22] memory key) {
        assembly ("memory-safe") {
            // alpha
            mstore(add(key, 0), 0x2a14705537b009189da8808651eecdb82482477fe92ac12ca8b71f80fc3d49ef)
            mstore(add(key, 32), 0x2df7ee7f243ea8b38e1ddf14029258877a618c779fd4717db6177e19ea67ec38)
            // beta
            mstore(add(key, 64), 0x198e9393920d483a7260bfb731fb5d25f1aa493335a9e71297e485b7aef312c2)
            mstore(add(key, 96), 0x1800deef121f1e76426a00665e5c4479674322d4f75edadd46debd5cd992f6ed)
            mstore(add(key, 128), 0x090689d0585ff075ec9e99ad690c3395bc4b313370b38ef355acdadcd122975b)
            mstore(add(key, 160), 0x12c85ea5db8c6deb4aab71808dcb408fe3d1e7690c43d37b4ce6cc0166fa7daa)
            // gamma
            mstore(add(key, 192), 0x198e9393920d483a7260bfb731fb5d25f1aa493335a9e71297e485b7aef312c2)
            mstore(add(key, 224), 0x1800deef121f1e76426a00665e5c4479674322d4f75edadd46debd5cd992f6ed)
            mstore(add(key, 256), 0x090689d0585ff075ec9e99ad690c3395bc4b313370b38ef355acdadcd122975b)
            mstore(add(key, 288), 0x12c85ea5db8c6deb4aab71808dcb408fe3d1e7690c43d37b4ce6cc0166fa7daa)
            // delta
            mstore(add(key, 320), 0x198e9393920d483a7260bfb731fb5d25f1aa493335a9e71297e485b7aef312c2)
            mstore(add(key, 352), 0x1800deef121f1e76426a00665e5c4479674322d4f75edadd46debd5cd992f6ed)
            mstore(add(key, 384), 0x090689d0585ff075ec9e99ad690c3395bc4b313370b38ef355acdadcd122975b)
            mstore(add(key, 416), 0x12c85ea5db8c6deb4aab71808dcb408fe3d1e7690c43d37b4ce6cc0166fa7daa)
            // IC_0
            mstore(add(key, 448), 0x030644e72e131a029b85045b68181585d97816a916871ca8d3c208c16d87cfd3)
            mstore(add(key, 480), 0x15ed738c0e0a7c92e7845f96b2ae9c0a68a6a449e3538fc7ff3ebf7a5a18a2c4)
            // IC_1
            mstore(add(key, 512), 0x0769bf9ac56bea3ff40232bcb1b6bd159315d84715b8e679f2d355961915abf0)
            mstore(add(key, 544), 0x2ab799bee0489429554fdb7c8d086475319e63b40b9c5b57cdf1ff3dd9fe2261)
            // IC_2
            mstore(add(key, 576), 0x17c139df0efee0f766bc0204762b774362e4ded88953a39ce849a8a7fa163fa9)
            mstore(add(key, 608), 0x01e0559bacb160664764a357af8a9fe70baa9258e0b959273ffc5718c6d4cc7c)
            // IC_3
            mstore(add(key, 640), 0x17072b2ed3bb8d759a5325f477629386cb6fc6ecb801bd76983a6b86abffe078)
            mstore(add(key, 672), 0x168ada6cd130dd52017bb54bfa19377aadfe3bf05d18f41b77809f7f60d4af9e)
        }
    }

    function generatorOfG2() public pure returns (uint256, uint256, uint256, uint256) {
        return (
            0x198e9393920d483a7260bfb731fb5d25f1aa493335a9e71297e485b7aef312c2,
            0x1800deef121f1e76426a00665e5c4479674322d4f75edadd46debd5cd992f6ed,
            0x090689d0585ff075ec9e99ad690c3395bc4b313370b38ef355acdadcd122975b,
            0x12c85ea5db8c6deb4aab71808dcb408fe3d1e7690c43d37b4ce6cc0166fa7daa
        );
    }

    /// @dev A valid proof for any public inputs: B = the generator of G2, and
    /// A = α + IC_0 + D·IC_1 + z·IC_2 + y·IC_3 + C, all as multiples of G.
    function prove(uint256 digest, uint256 z, uint256 y) external view returns (Groth16Proof memory proof) {
        uint256 scalar = addmod(ALPHA + IC_0, C, R);
        scalar = addmod(scalar, mulmod(digest, IC_1, R), R);
        scalar = addmod(scalar, mulmod(z, IC_2, R), R);
        scalar = addmod(scalar, mulmod(y, IC_3, R), R);
        proof.a = multiplyG(scalar);
        (proof.b[0][0], proof.b[0][1], proof.b[1][0], proof.b[1][1]) = generatorOfG2();
        proof.c = multiplyG(C);
    }

    function multiplyG(uint256 scalar) public view returns (uint256[2] memory point) {
        uint256[3] memory input = [uint256(1), 2, scalar];
        bool done;
        assembly ("memory-safe") {
            done := staticcall(gas(), 7, input, 0x60, point, 0x40)
        }
        require(done, "ecMul failed");
    }
}
