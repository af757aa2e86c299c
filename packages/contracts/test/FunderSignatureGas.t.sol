// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {Groth16Proof} from "../solidity/interfaces/IGroth16Verifier.sol";
import {FundBatch, IShieldedPool, Permit} from "../solidity/interfaces/IShieldedPool.sol";
import {FunderSignature} from "../solidity/lib/FunderSignature.sol";
import {BurningWallet, OwnersWallet, PasskeysWallet, StarvingWallet, VerboseWallet} from "./support/CostlyWallets.sol";
import {FunderSignatureHarness} from "./FunderSignature.t.sol";
import {PoolFixture} from "./support/PoolFixture.sol";

/// @dev What a contract wallet's answer may cost whoever submits a batch (protocol §8).
contract FunderSignatureGasTest is PoolFixture {
    uint256 internal constant CAP = FunderSignature.ERC1271_GAS;
    uint256 internal constant P256_ORDER = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551;

    FunderSignatureHarness internal harness = new FunderSignatureHarness();
    bytes32 internal digest = keccak256("what a funder signs");

    // Hostile wallets ---------------------------------------------------------------------------------

    function test_aWalletThatBurnsAllItsGasCostsTheCapAndIsRefused() public {
        FundBatch memory batch = makeBatch(16, "a");
        batch.funder = address(new BurningWallet(type(uint256).max));
        Groth16Proof memory proof = prove(batch);
        Permit memory permit = noPermit();
        vm.prank(relayer);
        uint256 start = gasleft();
        try pool.fund{gas: 30_000_000}(batch, proof, "", permit) {
            assertTrue(false, "it was accepted");
        } catch (bytes memory reason) {
            assertEq(keccak256(reason), keccak256(encode(IShieldedPool.InvalidFunderSignature.selector)), "reason");
        }
        assertTrue(start - gasleft() < CAP + 300_000, "it cost more than the cap");
    }

    function test_aWithdrawalByAWalletThatBurnsAllItsGasCostsTheCap() public {
        address wallet = address(new BurningWallet(type(uint256).max));
        bytes32 nonce = fieldElement("nonce");
        uint256 start = gasleft();
        try pool.voidBatch{gas: 30_000_000}(wallet, nonce, "") {
            assertTrue(false, "it was accepted");
        } catch (bytes memory reason) {
            assertEq(keccak256(reason), keccak256(encode(IShieldedPool.InvalidFunderSignature.selector)), "reason");
        }
        assertTrue(start - gasleft() < CAP + 100_000, "it cost more than the cap");
    }

    function test_aWalletMayUseTheCapAndNotMore() public {
        assertTrue(harness.isValid(address(new BurningWallet(CAP - 10_000)), digest, ""), "refused within the cap");
        assertTrue(!harness.isValid(address(new BurningWallet(CAP)), digest, ""), "accepted beyond the cap");
    }

    /// @dev EIP-150 hands a callee 63/64 of what is left, silently. A wallet that gets less than the cap because the
    /// sender was stingy is not asked at all: whatever it makes of its want, nothing is accepted.
    function testFuzz_tooLittleGasNeverReachesTheWallet(uint256 supplied) public {
        address wallet = address(new StarvingWallet(CAP - 10_000));
        supplied = bound(supplied, 20_000, 2 * CAP);
        try harness.isValid{gas: supplied}(wallet, digest, "") returns (bool valid) {
            assertTrue(!valid, "accepted by a wallet that lacked gas");
        } catch (bytes memory reason) {
            // Empty: there was not even the gas to say so.
            bool isSaid = keccak256(reason) == keccak256(encode(FunderSignature.SignatureGasMissing.selector));
            assertTrue(isSaid || reason.length == 0, "refused for another reason");
        }
    }

    function test_tooLittleGasIsSaid() public {
        address wallet = address(new StarvingWallet(CAP - 10_000));
        vm.expectRevert(FunderSignature.SignatureGasMissing.selector);
        harness.isValid{gas: CAP}(wallet, digest, "");
        bytes32 nonce = fieldElement("nonce");
        vm.expectRevert(FunderSignature.SignatureGasMissing.selector);
        pool.voidBatch{gas: CAP}(wallet, nonce, "");
    }

    function test_aLongAnswerIsNotCopied() public {
        address wallet = address(new VerboseWallet(10_000));
        uint256 start = gasleft();
        assertTrue(harness.isValid(wallet, digest, ""), "the answer begins with consent");
        uint256 used = start - gasleft();
        // What the wallet pays for its own memory is about 225,000; a copy would cost that once more.
        assertTrue(used < 260_000, "the answer was copied");
    }

    // Honest wallets ----------------------------------------------------------------------------------

    function test_thirtyOwnersFit() public {
        uint256 count = 30;
        address[] memory owners = new address[](count);
        bytes memory signature;
        for (uint256 i = 0; i < count; i++) {
            uint256 key = uint256(keccak256(abi.encode("owner", i)));
            owners[i] = vm.addr(key);
            signature = bytes.concat(signature, signWith(key, digest));
        }
        _fits(address(new OwnersWallet(owners)), signature);
    }

    function test_threePasskeysInSolidityFit() public {
        uint256 count = 3;
        PasskeysWallet.Key[] memory keys = new PasskeysWallet.Key[](count);
        bytes32[2][] memory signatures = new bytes32[2][](count);
        bytes32 message = new PasskeysWallet(new PasskeysWallet.Key[](0)).messageHash(digest);
        for (uint256 i = 0; i < count; i++) {
            uint256 key = uint256(keccak256(abi.encode("passkey", i))) % P256_ORDER;
            (uint256 x, uint256 y) = vm.publicKeyP256(key);
            keys[i] = PasskeysWallet.Key(bytes32(x), bytes32(y));
            (bytes32 r, bytes32 s) = vm.signP256(key, message);
            if (uint256(s) > P256_ORDER / 2) s = bytes32(P256_ORDER - uint256(s));
            signatures[i] = [r, s];
        }
        _fits(address(new PasskeysWallet(keys)), abi.encode(signatures));
    }

    /// @dev A quarter stays free: wallets are proxies with modules, and look up more than these do.
    function _fits(address wallet, bytes memory signature) private view {
        uint256 start = gasleft();
        assertTrue(harness.isValid(wallet, digest, signature), "refused");
        assertTrue(start - gasleft() < CAP * 3 / 4, "no room");
    }
}
