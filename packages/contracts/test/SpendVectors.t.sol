// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {EligibilityRegistry} from "../solidity/EligibilityRegistry.sol";
import {ShieldedPool} from "../solidity/ShieldedPool.sol";
import {CircuitVerifier, Groth16Proof} from "../solidity/interfaces/IGroth16Verifier.sol";
import {IShieldedPool, SpendCall} from "../solidity/interfaces/IShieldedPool.sol";
import {PoolTestToken} from "../solidity/sandbox/PoolTestToken.sol";
import {Fund16Verifier} from "../solidity/generated/Fund16Verifier.sol";
import {Spend16x8Verifier} from "../solidity/generated/Spend16x8Verifier.sol";
import {Spend2x4Verifier} from "../solidity/generated/Spend2x4Verifier.sol";
import {TestBase} from "./support/TestBase.sol";

/// @dev vectors/spend.json at the pool: whole spends, from manifest and seed to D, z and y, that another implementation
/// made. vectors/spend-proofs.json has a real proof of each (`pnpm run vectors:spend`). Each must land at the real
/// verifiers, so the contract computes the public vector of the circuits and accepts the signature of the vectors.
contract SpendVectorsTest is TestBase {
    /// @dev Of `madeBy` in the tree, as `forge inspect ShieldedPool storage-layout` shows it.
    uint256 internal constant MADE_BY_SLOT = 29;

    string internal json = vm.readFile("../../vectors/spend.json");
    string internal proofs = vm.readFile("../../vectors/spend-proofs.json");
    EligibilityRegistry internal registry;
    ShieldedPool internal pool;
    PoolTestToken internal token;

    /// @dev Pool and token are the first two contracts of anvil's first account.
    function setUp() public {
        vm.chainId(31337);
        vm.warp(1_795_000_000);
        address deployer = 0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266;
        registry = new EligibilityRegistry(address(this), address(this), 1 hours);
        CircuitVerifier[] memory verifiers = new CircuitVerifier[](3);
        verifiers[0] = CircuitVerifier(0, 16, new Fund16Verifier());
        verifiers[1] = CircuitVerifier(2, 4, new Spend2x4Verifier());
        verifiers[2] = CircuitVerifier(16, 8, new Spend16x8Verifier());
        vm.startPrank(deployer);
        vm.setNonce(deployer, 0);
        pool = new ShieldedPool(deployer, deployer, deployer, registry, verifiers);
        vm.setNonce(deployer, 1);
        token = new PoolTestToken("Test Dollar", "TUSD", deployer);
        pool.enableToken(address(token));
        token.mint(address(pool), 2 ** 129);
        vm.stopPrank();
        assertEq(address(pool), vm.parseJsonAddress(json, ".spends[0].manifest.pool"), "the pool's address");
        assertEq(address(token), vm.parseJsonAddress(json, ".spends[0].manifest.token"), "the token's address");
    }

    function test_everySpendOfTheVectorsLands() public {
        uint256 landed = 0;
        for (; vm.keyExistsJson(json, string.concat(".spends[", vm.toString(landed), "]")); landed++) {
            string memory spend = string.concat(".spends[", vm.toString(landed), "]");
            SpendCall memory operation = _read(spend);
            _makeRootsKnown(operation);
            uint256 before = token.balanceOf(address(pool));
            bytes memory sealedNotes = _sealedNotes(spend, operation.commitments.length);
            Groth16Proof memory proof = _readProof(landed);
            // The proof of another spend of the same or another size.
            vm.expectRevert(IShieldedPool.InvalidProof.selector);
            pool.spend(operation, _readProof(landed == 0 ? 1 : 0), sealedNotes);
            pool.spend(operation, proof, sealedNotes);
            assertEq(token.balanceOf(address(pool)), before - operation.withdrawAmount, "the pool's balance");
        }
        assertTrue(landed >= 5, "too few vectors");
        assertEq(pool.batchCount(), landed, "count");
    }

    function _read(string memory spend) private view returns (SpendCall memory operation) {
        operation.token = vm.parseJsonAddress(json, string.concat(spend, ".manifest.token"));
        operation.withdrawAmount = _number(spend, ".manifest.withdrawAmount");
        string memory recipient = string.concat(spend, ".manifest.recipient");
        if (vm.keyExistsJson(json, recipient)) operation.recipient = vm.parseJsonAddress(json, recipient);
        operation.deadline = _number(spend, ".manifest.deadline");
        operation.nullifiers = vm.parseJsonUintArray(json, string.concat(spend, ".operation.nullifiers"));
        operation.commitments = vm.parseJsonUintArray(json, string.concat(spend, ".operation.commitments"));
        operation.outRoot = _number(spend, ".operation.outRoot");
        operation.noteRoot = _number(spend, ".noteRoot");
        operation.eligibilityRoot = _number(spend, ".eligibility.root");
        operation.D = _number(spend, ".publicInputs.digest");
        operation.maskedX = _number(spend, ".masked.x");
        operation.maskedY = _number(spend, ".masked.y");
        operation.slope = _number(spend, ".masked.slope");
        operation.maskedDigest = _number(spend, ".masked.digest");
        operation.rSig = _number(spend, ".signature.rSig");
        operation.s = _number(spend, ".signature.s");
        operation.parity = uint8(_number(spend, ".signature.parity"));
    }

    function _number(string memory spend, string memory field) private view returns (uint256) {
        return vm.parseJsonUint(json, string.concat(spend, field));
    }

    /// @dev In the order of the spends.
    function _readProof(uint256 index) private view returns (Groth16Proof memory proof) {
        string memory place = string.concat(".proofs[", vm.toString(index), "].proof");
        uint256[] memory a = vm.parseJsonUintArray(proofs, string.concat(place, ".a"));
        uint256[] memory b0 = vm.parseJsonUintArray(proofs, string.concat(place, ".b[0]"));
        uint256[] memory b1 = vm.parseJsonUintArray(proofs, string.concat(place, ".b[1]"));
        uint256[] memory c = vm.parseJsonUintArray(proofs, string.concat(place, ".c"));
        proof.a = [a[0], a[1]];
        proof.b = [[b0[0], b0[1]], [b1[0], b1[1]]];
        proof.c = [c[0], c[1]];
    }

    function _sealedNotes(string memory spend, uint256 count) private view returns (bytes memory sealedNotes) {
        for (uint256 i = 0; i < count; i++) {
            string memory note = string.concat(spend, ".sealedNotes[", vm.toString(i), "].sealed");
            sealedNotes = bytes.concat(sealedNotes, vm.parseJsonBytes(json, note));
        }
    }

    function _makeRootsKnown(SpendCall memory operation) private {
        vm.store(address(pool), keccak256(abi.encode(operation.noteRoot, MADE_BY_SLOT)), bytes32(uint256(1)));
        assertTrue(pool.isKnownRoot(bytes32(operation.noteRoot)), "the storage layout has changed");
        if (operation.eligibilityRoot != 0) registry.publish(bytes32(operation.eligibilityRoot));
    }
}
