// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {EligibilityRegistry} from "../solidity/EligibilityRegistry.sol";
import {ShieldedPool} from "../solidity/ShieldedPool.sol";
import {CircuitVerifier, Groth16Proof, IGroth16Verifier} from "../solidity/interfaces/IGroth16Verifier.sol";
import {FundBatch, IShieldedPool, Permit} from "../solidity/interfaces/IShieldedPool.sol";
import {PoolTestToken} from "../solidity/sandbox/PoolTestToken.sol";
import {Fund16Verifier} from "../solidity/generated/Fund16Verifier.sol";
import {Fund256Verifier} from "../solidity/generated/Fund256Verifier.sol";
import {Fund64Verifier} from "../solidity/generated/Fund64Verifier.sol";
import {TestBase} from "./support/TestBase.sol";
import {TrapdoorVerifier} from "./support/TrapdoorVerifier.sol";

/// @dev vectors/fund-proofs.json: proofs of the real circuits, made by the engine of @pool/prover (`pnpm run vectors`),
/// settled by the real verifiers.
contract RealProofsTest is TestBase {
    address internal relayer = address(0x4e1a);
    string internal json = vm.readFile("../../vectors/fund-proofs.json");

    ShieldedPool internal pool;
    EligibilityRegistry internal registry;
    PoolTestToken internal token;
    /// @dev In the order of the batches: fund-16, fund-64, fund-256.
    IGroth16Verifier[3] internal verifiers;

    /// @dev The proofs are bound to the addresses of token and pool, so both are made at the same nonces.
    function setUp() public {
        vm.chainId(31337);
        vm.warp(1_800_000_000);
        address deployer = vm.parseJsonAddress(json, ".deployer");
        registry = new EligibilityRegistry(address(this), address(this), 1 hours);
        verifiers = [IGroth16Verifier(new Fund16Verifier()), new Fund64Verifier(), new Fund256Verifier()];
        IGroth16Verifier unused = new TrapdoorVerifier();
        vm.startPrank(deployer);
        vm.setNonce(deployer, 0);
        token = new PoolTestToken("Test Dollar", "TUSD", deployer);
        vm.setNonce(deployer, 8);
        CircuitVerifier[] memory circuits = new CircuitVerifier[](4);
        circuits[0] = CircuitVerifier(0, 16, verifiers[0]);
        circuits[1] = CircuitVerifier(0, 64, verifiers[1]);
        circuits[2] = CircuitVerifier(0, 256, verifiers[2]);
        circuits[3] = CircuitVerifier(2, 4, unused);
        pool = new ShieldedPool(deployer, deployer, relayer, registry, circuits);
        pool.enableToken(address(token));
        token.mint(vm.parseJsonAddress(json, ".batches[0].batch.funder"), 1e12);
        vm.stopPrank();
        assertEq(address(pool), vm.parseJsonAddress(json, ".pool"), "the pool's address");
    }

    function _read(uint256 index)
        private
        view
        returns (FundBatch memory batch, Groth16Proof memory proof, bytes memory)
    {
        string memory at = string.concat(".batches[", vm.toString(index), "]");
        batch.funder = vm.parseJsonAddress(json, string.concat(at, ".batch.funder"));
        batch.token = vm.parseJsonAddress(json, string.concat(at, ".batch.token"));
        batch.total = vm.parseJsonUint(json, string.concat(at, ".batch.total"));
        batch.batchNonce = vm.parseJsonBytes32(json, string.concat(at, ".batch.batchNonce"));
        batch.eligibilityRoot = vm.parseJsonBytes32(json, string.concat(at, ".batch.eligibilityRoot"));
        batch.batchRoot = vm.parseJsonBytes32(json, string.concat(at, ".batch.batchRoot"));
        batch.commitments = vm.parseJsonBytes32Array(json, string.concat(at, ".batch.commitments"));
        batch.sealedNotesHash = vm.parseJsonBytes32(json, string.concat(at, ".batch.sealedNotesHash"));
        batch.digest = vm.parseJsonBytes32(json, string.concat(at, ".batch.digest"));
        batch.deadline = vm.parseJsonUint(json, string.concat(at, ".batch.deadline"));
        uint256[] memory a = vm.parseJsonUintArray(json, string.concat(at, ".proof.a"));
        uint256[] memory b0 = vm.parseJsonUintArray(json, string.concat(at, ".proof.b[0]"));
        uint256[] memory b1 = vm.parseJsonUintArray(json, string.concat(at, ".proof.b[1]"));
        uint256[] memory c = vm.parseJsonUintArray(json, string.concat(at, ".proof.c"));
        proof.a = [a[0], a[1]];
        proof.b = [[b0[0], b0[1]], [b1[0], b1[1]]];
        proof.c = [c[0], c[1]];
        return (batch, proof, vm.parseJsonBytes(json, string.concat(at, ".funderSignature")));
    }

    function _settles(uint256 index) private {
        (FundBatch memory batch, Groth16Proof memory proof, bytes memory signature) = _read(index);
        registry.publish(batch.eligibilityRoot);
        vm.prank(batch.funder);
        token.approve(address(pool), batch.total);
        Permit memory none;
        vm.prank(relayer);
        pool.fund(batch, proof, signature, none);
        assertEq(token.balanceOf(address(pool)), batch.total, "the pool's balance");
        assertEq(pool.batchNonceUsed(batch.funder, batch.batchNonce), batch.batchRoot, "the nonce");
    }

    function test_settlesARealProofOfFund16() public {
        _settles(0);
    }

    function test_settlesARealProofOfFund64() public {
        _settles(1);
    }

    function test_settlesARealProofOfFund256() public {
        _settles(2);
    }

    function test_theVerifiersDoNotTakeEachOthersProofs() public view {
        for (uint256 i = 0; i < verifiers.length; i++) {
            (FundBatch memory batch, Groth16Proof memory proof,) = _read(i);
            string memory at = string.concat(".batches[", vm.toString(i), "]");
            uint256 z = vm.parseJsonUint(json, string.concat(at, ".z"));
            uint256 y = vm.parseJsonUint(json, string.concat(at, ".y"));
            for (uint256 j = 0; j < verifiers.length; j++) {
                bool accepted = verifiers[j].verify(proof, uint256(batch.digest), z, y);
                assertTrue(accepted == (i == j), i == j ? "a real proof is refused" : "another circuit's proof passes");
            }
        }
    }

    /// @dev Protocol §5, with a real proof: D and proof stay, one element changes, the batch is refused. What the
    /// signature covers is called without the relayer's chance to sign: the verifier is asked directly.
    function test_everyFlippedElementOfARealBatchIsRefused() public {
        for (uint256 i = 0; i < verifiers.length; i++) {
            (FundBatch memory batch, Groth16Proof memory proof, bytes memory signature) = _read(i);
            registry.publish(batch.eligibilityRoot);
            for (uint256 slot = 0; slot < batch.commitments.length; slot++) {
                batch.commitments[slot] ^= bytes32(uint256(1));
                _refusedByProof(batch, proof, signature);
                batch.commitments[slot] ^= bytes32(uint256(1));
            }
            bytes32 root = batch.eligibilityRoot;
            batch.eligibilityRoot ^= bytes32(uint256(1));
            registry.publish(batch.eligibilityRoot);
            _refusedByProof(batch, proof, signature);
            batch.eligibilityRoot = root;
            batch.digest ^= bytes32(uint256(1));
            _refusedByProof(batch, proof, signature);
            _refusesFlippedHead(i, batch, proof);
        }
    }

    function _refusedByProof(FundBatch memory batch, Groth16Proof memory proof, bytes memory signature) private {
        Permit memory none;
        vm.prank(relayer);
        vm.expectRevert(IShieldedPool.InvalidProof.selector);
        pool.fund(batch, proof, signature, none);
    }

    /// @dev assetId, total, batchId and batchRoot are signed, so z and y are computed here.
    function _refusesFlippedHead(uint256 index, FundBatch memory batch, Groth16Proof memory proof) private view {
        uint256 digest = uint256(batch.digest) ^ 1;
        uint256[] memory x = new uint256[](5 + batch.commitments.length);
        x[0] = uint256(pool.assetIdOf(batch.token));
        x[1] = batch.total;
        x[2] = uint256(pool.batchIdOf(batch.funder, batch.batchNonce));
        x[3] = uint256(batch.eligibilityRoot);
        x[4] = uint256(batch.batchRoot);
        for (uint256 i = 0; i < batch.commitments.length; i++) {
            x[5 + i] = uint256(batch.commitments[i]);
        }
        IGroth16Verifier verifier = verifiers[index];
        (uint256 z, uint256 y) = _compress(digest, x);
        assertTrue(verifier.verify(proof, digest, z, y), "the unchanged vector is refused");
        for (uint256 i = 0; i < x.length; i++) {
            x[i] ^= 1;
            (z, y) = _compress(digest, x);
            assertTrue(!verifier.verify(proof, digest, z, y), "a flipped element passes");
            x[i] ^= 1;
        }
    }

    function _compress(uint256 digest, uint256[] memory x) private pure returns (uint256 z, uint256 y) {
        uint256 r = 0x30644e72e131a029b85045b68181585d2833e84879b9709143e1f593f0000001;
        z = uint256(keccak256(abi.encodePacked(digest, x))) % r;
        for (uint256 i = x.length; i > 0; i--) {
            y = addmod(x[i - 1], mulmod(z, y, r), r);
        }
    }
}
