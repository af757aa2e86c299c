// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {FundBatch, IShieldedPool} from "../solidity/interfaces/IShieldedPool.sol";
import {PublicInputs} from "../solidity/lib/PublicInputs.sol";
import {PoolFixture} from "./support/PoolFixture.sol";
import {OwnedWallet} from "./support/Wallets.sol";

/// @dev `voidBatch`: an authorisation taken back for good.
contract ShieldedPoolVoidTest is PoolFixture {
    bytes32 internal nonce = fieldElement("nonce");

    function test_anybodyMaySubmitTheFundersWord() public {
        bytes memory signature = signWith(FUNDER_KEY, voidDigest(funder, nonce));
        assertTrue(!pool.isVoided(funder, nonce), "voided beforehand");
        vm.expectEmit(address(pool));
        emit IShieldedPool.BatchVoided(funder, nonce);
        vm.prank(stranger);
        pool.voidBatch(funder, nonce, signature);
        assertTrue(pool.isVoided(funder, nonce), "not voided");
        assertEq(pool.batchNonceUsed(funder, nonce), bytes32(0), "a voided nonce counts as used");
        assertTrue(!pool.isVoided(stranger, nonce), "voided for somebody else");
        assertTrue(!pool.isVoided(funder, fieldElement("another nonce")), "another nonce is voided");
    }

    function test_worksWhilePausedAndTwice() public {
        vm.prank(guardian);
        pool.pauseFunding();
        bytes memory signature = signWith(FUNDER_KEY, voidDigest(funder, nonce));
        pool.voidBatch(funder, nonce, signature);
        pool.voidBatch(funder, nonce, signature);
        assertTrue(pool.isVoided(funder, nonce), "not voided");
    }

    function test_refusesAUsedNonce() public {
        FundBatch memory batch = makeBatch(16, "a");
        fund(batch);
        bytes memory signature = signWith(FUNDER_KEY, voidDigest(funder, batch.batchNonce));
        vm.expectRevert(abi.encodeWithSelector(IShieldedPool.BatchNonceUsed.selector, funder, batch.batchNonce));
        pool.voidBatch(funder, batch.batchNonce, signature);
    }

    function test_refusesAnotherSigner() public {
        bytes memory signature = signWith(1, voidDigest(funder, nonce));
        vm.expectRevert(IShieldedPool.InvalidFunderSignature.selector);
        pool.voidBatch(funder, nonce, signature);
    }

    function test_refusesASignatureForAnotherNonceOrFunder() public {
        bytes memory signature = signWith(FUNDER_KEY, voidDigest(funder, nonce));
        vm.expectRevert(IShieldedPool.InvalidFunderSignature.selector);
        pool.voidBatch(funder, fieldElement("another nonce"), signature);
        vm.expectRevert(IShieldedPool.InvalidFunderSignature.selector);
        pool.voidBatch(stranger, nonce, signature);
    }

    function test_anAuthorisationIsNotAWithdrawal() public {
        FundBatch memory batch = makeBatch(16, "a");
        bytes memory signature = sign(batch);
        vm.expectRevert(IShieldedPool.InvalidFunderSignature.selector);
        pool.voidBatch(funder, batch.batchNonce, signature);
    }

    function test_refusesAnAliasOfANonce() public {
        bytes32 aliased = bytes32(uint256(nonce) + R);
        bytes memory signature = signWith(FUNDER_KEY, voidDigest(funder, aliased));
        vm.expectRevert(PublicInputs.FieldElementOutOfRange.selector);
        pool.voidBatch(funder, aliased, signature);
    }

    function test_acceptsAContractWallet() public {
        OwnedWallet wallet = new OwnedWallet(funder);
        bytes memory signature = signWith(FUNDER_KEY, voidDigest(address(wallet), nonce));
        pool.voidBatch(address(wallet), nonce, signature);
        assertTrue(pool.isVoided(address(wallet), nonce), "not voided");
    }
}
