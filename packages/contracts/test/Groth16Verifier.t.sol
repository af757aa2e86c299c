// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {KeyVerifier} from "../solidity/KeyVerifier.sol";
import {Groth16Proof, IGroth16Verifier} from "../solidity/interfaces/IGroth16Verifier.sol";
import {Fund16Verifier} from "../solidity/generated/Fund16Verifier.sol";
import {Fund256Verifier} from "../solidity/generated/Fund256Verifier.sol";
import {Fund64Verifier} from "../solidity/generated/Fund64Verifier.sol";
import {Spend16x8Verifier} from "../solidity/generated/Spend16x8Verifier.sol";
import {Spend2x4Verifier} from "../solidity/generated/Spend2x4Verifier.sol";
import {TestBase} from "./support/TestBase.sol";
import {TrapdoorVerifier} from "./support/TrapdoorVerifier.sol";

contract KnownKey is TrapdoorVerifier {
    function key() external pure returns (uint256[22] memory) {
        return _verificationKey();
    }
}

contract Groth16VerifierTest is TestBase {
    uint256 internal constant R = 0x30644e72e131a029b85045b68181585d2833e84879b9709143e1f593f0000001;
    uint256 internal constant Q = 0x30644e72e131a029b85045b68181585d97816a916871ca8d3c208c16d87cfd47;

    TrapdoorVerifier internal verifier = new TrapdoorVerifier();

    /// @dev With a gas limit as a relayer would set: a failing precompile takes all the gas it was given.
    function _holds(Groth16Proof memory proof, uint256 digest, uint256 z, uint256 y) private view returns (bool) {
        return verifier.verify{gas: 1_000_000}(proof, digest, z, y);
    }

    function testFuzz_acceptsAProofForItsInputsAndNoOthers(uint256 digest, uint256 z, uint256 y) public view {
        (digest, z, y) = (digest % R, z % R, y % R);
        Groth16Proof memory proof = verifier.prove(digest, z, y);
        assertTrue(_holds(proof, digest, z, y), "a valid proof is refused");
        assertTrue(!_holds(proof, addmod(digest, 1, R), z, y), "another digest passes");
        assertTrue(!_holds(proof, digest, addmod(z, 1, R), y), "another z passes");
        assertTrue(!_holds(proof, digest, z, addmod(y, 1, R)), "another y passes");
    }

    function testFuzz_aKeyGivenAtConstructionVerifiesTheSame(uint256 digest, uint256 z, uint256 y) public {
        (digest, z, y) = (digest % R, z % R, y % R);
        KeyVerifier given = new KeyVerifier(new KnownKey().key());
        Groth16Proof memory proof = verifier.prove(digest, z, y);
        assertTrue(given.verify(proof, digest, z, y), "a valid proof is refused");
        assertTrue(!given.verify(proof, digest, z, addmod(y, 1, R)), "another y passes");
    }

    /// @dev Every word of the key is at its place: with any other word, the proof does not hold.
    function test_everyWordOfAGivenKeyMatters() public {
        Groth16Proof memory proof = verifier.prove(1, 2, 3);
        for (uint256 i = 0; i < 22; i++) {
            uint256[22] memory key = new KnownKey().key();
            key[i] ^= 1;
            KeyVerifier given = new KeyVerifier(key);
            // Points off the curve make several precompiles fail, and each takes the gas it was given.
            try given.verify{gas: 1_000_000}(proof, 1, 2, 3) returns (bool valid) {
                assertTrue(!valid, "a changed word passes");
            } catch {}
        }
    }

    function test_refusesAliasesOfItsInputs() public view {
        Groth16Proof memory proof = verifier.prove(1, 2, 3);
        assertTrue(_holds(proof, 1, 2, 3), "a valid proof is refused");
        assertTrue(!_holds(proof, 1 + R, 2, 3), "an alias of the digest passes");
        assertTrue(!_holds(proof, 1, 2 + R, 3), "an alias of z passes");
        assertTrue(!_holds(proof, 1, 2, 3 + R), "an alias of y passes");
    }

    /// @dev Every coordinate matters, and a point off the curve answers false, it does not revert.
    function test_refusesEveryChangedCoordinate() public view {
        for (uint256 i = 0; i < 8; i++) {
            Groth16Proof memory proof = verifier.prove(1, 2, 3);
            if (i < 2) proof.a[i] ^= 1;
            else if (i < 6) proof.b[(i - 2) / 2][i % 2] ^= 1;
            else proof.c[i - 6] ^= 1;
            assertTrue(!_holds(proof, 1, 2, 3), "a changed coordinate passes");
        }
    }

    function test_refusesCoordinatesOutOfRange() public view {
        Groth16Proof memory proof = verifier.prove(1, 2, 3);
        proof.a[1] += Q;
        assertTrue(!_holds(proof, 1, 2, 3), "an alias of a coordinate passes");
        proof = verifier.prove(1, 2, 3);
        proof.c[0] += Q;
        assertTrue(!_holds(proof, 1, 2, 3), "an alias of a coordinate passes");
    }

    function test_refusesTheProofOfNothing() public view {
        Groth16Proof memory proof;
        assertTrue(!_holds(proof, 1, 2, 3), "the zero proof passes");
        assertTrue(!_holds(proof, 0, 0, 0), "the zero proof passes for zero inputs");
    }

    /// @dev A point of the twist outside the right subgroup: on the curve, yet not in G2
    /// (x = 1; found with noble's curve arithmetic).
    function test_refusesAPointOutsideTheSubgroup() public view {
        Groth16Proof memory proof = verifier.prove(1, 2, 3);
        (proof.b[0][0], proof.b[0][1], proof.b[1][0], proof.b[1][1]) =
        (
            0,
            1,
            0x2351dcdda257b62181cbd745dfee16d5fdf4eb185bbcf33c20a0fe6eaa9cb4a3,
            0x07fb3d558dafafb6bf6dd326a5fefe0beca3f9ac3bd999a390d504fad34b0b8c
        );
        assertTrue(!_holds(proof, 1, 2, 3), "a foreign point passes");
    }

    function test_theVerifiersDifferAndRefuseTheTrapdoorsProofs() public {
        IGroth16Verifier[5] memory verifiers = [
            IGroth16Verifier(new Fund16Verifier()),
            new Fund64Verifier(),
            new Fund256Verifier(),
            new Spend2x4Verifier(),
            new Spend16x8Verifier()
        ];
        Groth16Proof memory proof = verifier.prove(1, 2, 3);
        for (uint256 i = 0; i < verifiers.length; i++) {
            assertTrue(!verifiers[i].verify(proof, 1, 2, 3), "a verifier accepts a foreign proof");
            for (uint256 j = 0; j < i; j++) {
                bytes32 other = keccak256(address(verifiers[j]).code);
                assertTrue(keccak256(address(verifiers[i]).code) != other, "the same key twice");
            }
        }
    }

    function test_developmentKeysAreRefusedOnPublicChains() public {
        uint256[4] memory publicChains = [uint256(1), 8453, 31336, 1338];
        for (uint256 i = 0; i < publicChains.length; i++) {
            vm.chainId(publicChains[i]);
            bytes memory refusal =
                abi.encodeWithSelector(IGroth16Verifier.DevelopmentKeyOnPublicChain.selector, publicChains[i]);
            vm.expectRevert(refusal);
            new Fund16Verifier();
            vm.expectRevert(refusal);
            new Fund64Verifier();
            vm.expectRevert(refusal);
            new Fund256Verifier();
            vm.expectRevert(refusal);
            new Spend2x4Verifier();
            vm.expectRevert(refusal);
            new Spend16x8Verifier();
        }
        vm.chainId(1337);
        new Fund16Verifier();
        vm.chainId(31337);
        new Fund64Verifier();
        new Fund256Verifier();
        new Spend2x4Verifier();
        new Spend16x8Verifier();
    }
}
