// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {EligibilityRegistry} from "../../solidity/EligibilityRegistry.sol";
import {ShieldedPool} from "../../solidity/ShieldedPool.sol";
import {PoolTestToken} from "../../solidity/sandbox/PoolTestToken.sol";
import {TestBase} from "../support/TestBase.sol";
import {SpendHandler} from "./SpendHandler.sol";

/// @dev The numbered invariants of ShieldedPool.sol and EligibilityRegistry.sol, after any sequence of calls.
contract ShieldedPoolInvariants is TestBase {
    uint256 internal constant FUNDS = 1e30;

    SpendHandler internal handler;
    ShieldedPool internal pool;
    EligibilityRegistry internal registry;
    PoolTestToken internal token;
    address internal funder;

    function setUp() public {
        handler = new SpendHandler();
        (pool, registry, token, funder) = handler.poolAndToken();
    }

    /// @dev forge calls only the handler.
    function targetContracts() public view returns (address[] memory targets) {
        targets = new address[](1);
        targets[0] = address(handler);
    }

    function invariant_nothingForbiddenHappened() public view {
        assertTrue(bytes(handler.violation()).length == 0, handler.violation());
    }

    function invariant_P1_theBalanceCoversWhatWasFundedAndNotWithdrawn() public view {
        uint256 balance = token.balanceOf(address(pool));
        uint256 funded = handler.totalFunded() + handler.totalForeign();
        assertTrue(balance >= funded - handler.totalWithdrawn(), "the pool owes more than it has");
        uint256 expected = funded + handler.totalDonated() - handler.totalWithdrawn();
        assertEq(balance, expected, "tokens came or went unseen");
    }

    function invariant_P2_everyBatchIdHoldsItsOneBatchRoot() public view {
        uint256 batches = handler.settled() + handler.spends();
        assertEq(pool.batchCount(), batches, "batches without a batchId or nullifiers of their own");
        for (uint256 i = 0; i < handler.settled(); i++) {
            (address payer, bytes32 nonce, bytes32 batchRoot) = handler.landed(i);
            assertEq(pool.batchNonceUsed(payer, nonce), batchRoot, "root under a batchId");
        }
    }

    function invariant_P2_aVoidedNonceStaysUnused() public view {
        bytes32[] memory voided = handler.voided();
        for (uint256 i = 0; i < voided.length; i++) {
            assertTrue(pool.isVoided(funder, voided[i]), "a withdrawal was forgotten");
            assertEq(pool.batchNonceUsed(funder, voided[i]), bytes32(0), "a voided nonce was used");
        }
    }

    function invariant_P3_rootsOnlyGrow() public view {
        bytes32[] memory roots = handler.roots();
        for (uint256 i = 0; i < roots.length; i++) {
            assertTrue(pool.isKnownRoot(roots[i]), "a root was forgotten");
        }
        assertTrue(!pool.isKnownRoot(bytes32(0)), "zero is a known root");
        if (roots.length > 0) assertEq(pool.currentRoot(), roots[roots.length - 1], "current root");
    }

    function invariant_P5_theFunderPaidExactlyWhatItSigned() public view {
        assertEq(token.balanceOf(funder), FUNDS - handler.totalFunded(), "the funder's balance");
    }

    function invariant_P5_whatLeftWentToTheRecipientsOfHonestSpends() public view {
        assertEq(token.balanceOf(handler.receiver()), handler.totalWithdrawn(), "the recipient's balance");
    }

    function invariant_P7_everyNullifierHoldsItsOneOutRoot() public view {
        uint256 used = 0;
        for (uint256 i = 0; i < handler.spends(); i++) {
            (uint256[] memory nullifiers, uint256 outRoot) = handler.spentNullifiers(i);
            used += nullifiers.length;
            for (uint256 j = 0; j < nullifiers.length; j++) {
                assertEq(pool.nullifierUsed(bytes32(nullifiers[j])), bytes32(outRoot), "outRoot under a nullifier");
            }
        }
        assertEq(used, handler.nullifiersUsed(), "a nullifier is missing");
    }

    function invariant_E1_zeroIsNeverAccepted() public view {
        assertTrue(!registry.accepted(bytes32(0)), "zero is an accepted root");
    }
}
