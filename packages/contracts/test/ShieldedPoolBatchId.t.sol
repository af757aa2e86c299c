// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {FundBatch, IShieldedPool} from "../solidity/interfaces/IShieldedPool.sol";
import {PublicInputs} from "../solidity/lib/PublicInputs.sol";
import {PoolFixture} from "./support/PoolFixture.sol";

/// @dev Protocol §3: a batch is known by its batchId, which binds the funder's address. A relayer learns a
/// funder's batch nonce before it is on chain.
contract ShieldedPoolBatchIdTest is PoolFixture {
    uint256 internal constant OTHER_KEY = uint256(keccak256("the relayer's own funder"));

    /// @dev A batch that another account pays under the nonce of `batch`.
    function _fundAsOther(FundBatch memory batch) private returns (FundBatch memory foreign) {
        foreign = makeBatch(16, "foreign");
        foreign.funder = vm.addr(OTHER_KEY);
        foreign.batchNonce = batch.batchNonce;
        token.mint(foreign.funder, foreign.total);
        vm.prank(foreign.funder);
        token.approve(address(pool), foreign.total);
        fundWith(foreign, prove(foreign), signWith(OTHER_KEY, authorizationDigest(foreign)), noPermit());
    }

    function test_aRelayerCannotBurnAFundersNonceUnderItsOwnAddress() public {
        FundBatch memory batch = makeBatch(16, "honest");
        FundBatch memory foreign = _fundAsOther(batch);
        assertEq(pool.batchNonceUsed(funder, batch.batchNonce), bytes32(0), "the funder's nonce counts as used");
        fund(batch);
        assertEq(token.balanceOf(address(pool)), batch.total + foreign.total, "one of the two did not land");
        assertEq(pool.batchNonceUsed(funder, batch.batchNonce), batch.batchRoot, "the funder's batch");
        assertEq(pool.batchNonceUsed(foreign.funder, batch.batchNonce), foreign.batchRoot, "the other batch");
    }

    function test_aProofForOneFunderIsRefusedForAnotherUnderTheSameNonce() public {
        FundBatch memory batch = makeBatch(16, "honest");
        FundBatch memory stolen = makeBatch(16, "honest");
        stolen.funder = vm.addr(OTHER_KEY);
        bytes memory signature = signWith(OTHER_KEY, authorizationDigest(stolen));
        expectRefusalWith(stolen, prove(batch), signature, encode(IShieldedPool.InvalidProof.selector));
    }

    function test_aFunderMayStillVoidANonceThatSomebodyElseUsed() public {
        FundBatch memory batch = makeBatch(16, "honest");
        _fundAsOther(batch);
        pool.voidBatch(funder, batch.batchNonce, signWith(FUNDER_KEY, voidDigest(funder, batch.batchNonce)));
        assertTrue(pool.isVoided(funder, batch.batchNonce), "not voided");
        expectRefusal(batch, abi.encodeWithSelector(IShieldedPool.BatchIsVoided.selector, funder, batch.batchNonce));
    }

    function test_aUsedBatchIsNotAVoidedOne() public {
        FundBatch memory batch = makeBatch(16, "honest");
        fund(batch);
        assertTrue(!pool.isVoided(funder, batch.batchNonce), "a used batch counts as voided");
    }

    /// @dev The value that marks a void is no field element, so no batch can settle under it as its root.
    function test_refusesABatchRootThatLooksLikeAVoid() public {
        FundBatch memory batch = makeBatch(16, "honest");
        batch.batchRoot = bytes32(type(uint256).max);
        expectRefusal(batch, encode(PublicInputs.FieldElementOutOfRange.selector));
    }

    function test_batchIdIsTheOneOfTheVectors() public {
        string memory json = vm.readFile("../../vectors/digests.json");
        for (uint256 i = 0; i < 4; i++) {
            string memory at = string.concat(".batchIds[", vm.toString(i), "]");
            address account = vm.parseJsonAddress(json, string.concat(at, ".funder"));
            bytes32 nonce = vm.parseJsonBytes32(json, string.concat(at, ".batchNonce"));
            bytes32 expected = vm.parseJsonBytes32(json, string.concat(at, ".batchId"));
            assertEq(pool.batchIdOf(account, nonce), expected, "batchId");
        }
    }

    function test_looksUpNoNonceOutsideTheField() public {
        bytes32 aliased = bytes32(uint256(fieldElement("nonce")) + R);
        vm.expectRevert(PublicInputs.FieldElementOutOfRange.selector);
        pool.batchIdOf(funder, aliased);
        vm.expectRevert(PublicInputs.FieldElementOutOfRange.selector);
        pool.batchNonceUsed(funder, aliased);
        vm.expectRevert(PublicInputs.FieldElementOutOfRange.selector);
        pool.isVoided(funder, aliased);
    }
}
