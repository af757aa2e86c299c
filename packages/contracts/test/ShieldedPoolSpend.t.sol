// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {FundBatch, IShieldedPool, SpendCall} from "../solidity/interfaces/IShieldedPool.sol";
import {IGroth16Verifier} from "../solidity/interfaces/IGroth16Verifier.sol";
import {PublicInputs} from "../solidity/lib/PublicInputs.sol";
import {SpendFixture} from "./support/SpendFixture.sol";
import {Vm} from "./support/Vm.sol";

/// @dev `spend`: what it does when everything fits, and what can never stop it.
contract ShieldedPoolSpendTest is SpendFixture {
    // What it does ------------------------------------------------------------------------------------

    function test_settlesATransferOfTwoAndFour() public {
        _settles(makeTransfer(2, 4, "a"));
    }

    function test_settlesATransferOfSixteenAndEight() public {
        _settles(makeTransfer(16, 8, "a"));
    }

    function test_settlesASendOfTwoAndFour() public {
        _settles(makeSend(2, 4, "a"));
    }

    function test_settlesASendOfSixteenAndEight() public {
        _settles(makeSend(16, 8, "a"));
    }

    function _settles(SpendCall memory operation) private {
        Spend memory made = complete(operation);
        uint256 before = token.balanceOf(address(pool));
        vm.expectCall(address(spendVerifierOf(operation)), encode(IGroth16Verifier.verify.selector));
        vm.recordLogs();
        submit(made);
        _emitted(operation, made.sealedNotes);

        for (uint256 i = 0; i < operation.nullifiers.length; i++) {
            bytes32 outRoot = pool.nullifierUsed(bytes32(operation.nullifiers[i]));
            assertEq(outRoot, bytes32(operation.outRoot), "the outRoot under the nullifier");
        }
        assertEq(pool.batchCount(), 2, "count");
        assertTrue(pool.isKnownRoot(pool.currentRoot()), "the new root is not known");
        assertTrue(pool.isKnownRoot(bytes32(operation.noteRoot)), "the old root is forgotten");
        assertTrue(pool.currentRoot() != bytes32(operation.noteRoot), "the root stayed");
        assertEq(token.balanceOf(address(pool)), before - operation.withdrawAmount, "the pool's balance");
        assertEq(token.balanceOf(recipient), operation.withdrawAmount, "the recipient's balance");
    }

    /// @dev The notes themselves are in the event: calldata may hide them, inside the call of another contract.
    function _emitted(SpendCall memory operation, bytes memory sealedNotes) private {
        bytes memory data = abi.encode(
            uint64(1),
            pool.currentRoot(),
            asWords(operation.nullifiers),
            asWords(operation.commitments),
            keccak256(sealedNotes),
            sealedNotes
        );
        Vm.Log[] memory logs = vm.getRecordedLogs();
        assertEq(logs[0].emitter, address(pool), "emitter");
        assertEq(logs[0].topics[0], IShieldedPool.Spent.selector, "event");
        assertEq(logs[0].topics[1], bytes32(operation.outRoot), "outRoot");
        assertEq(keccak256(logs[0].data), keccak256(data), "data");
        // The event of the token, if something left.
        assertEq(logs.length, operation.withdrawAmount == 0 ? 1 : 2, "number of events");
    }

    function test_countsBatchesAndSpendsTogetherAndKeepsEveryRoot() public {
        bytes32[] memory roots = new bytes32[](6);
        for (uint256 i = 0; i < 6; i++) {
            if (i % 2 == 0) spend(makeTransfer(2, 4, vm.toString(i)));
            else fund(makeBatch(16, vm.toString(i)));
            roots[i] = pool.currentRoot();
            assertEq(pool.batchCount(), i + 2, "count");
            for (uint256 j = 0; j <= i; j++) {
                assertTrue(pool.isKnownRoot(roots[j]), "a past root is forgotten");
            }
        }
    }

    function test_anyoneMaySendIt() public {
        address[5] memory senders = [recipient, relayer, guardian, funder, address(0xbeef)];
        for (uint256 i = 0; i < senders.length; i++) {
            Spend memory made = complete(makeSend(2, 4, vm.toString(i)));
            vm.prank(senders[i]);
            pool.spend(made.operation, made.proof, made.sealedNotes);
        }
    }

    function test_landsInTheLastSecond() public {
        SpendCall memory operation = makeTransfer(2, 4, "a");
        vm.warp(operation.deadline);
        spend(operation);
    }

    function test_landsAgainstEveryPastNoteRoot() public {
        SpendCall memory old = makeTransfer(2, 4, "old");
        for (uint256 i = 0; i < 3; i++) {
            fund(makeBatch(16, vm.toString(i)));
        }
        spend(old);
        spend(makeTransfer(2, 4, "new"));
    }

    function test_landsAgainstAReplacedEligibilityRootDuringItsGrace() public {
        SpendCall memory operation = makeTransfer(2, 4, "a");
        vm.prank(gate);
        registry.publish(fieldElement("newer root"));
        spend(operation);
    }

    function test_withdrawsTheLargestAmount() public {
        token.mint(address(pool), type(uint128).max);
        SpendCall memory operation = makeSend(2, 4, "a");
        operation.withdrawAmount = type(uint128).max;
        spend(operation);
        assertEq(token.balanceOf(recipient), type(uint128).max, "the recipient's balance");
    }

    /// @dev A send may still have payees: then it carries an eligibility root.
    function test_aSendMayCarryAnEligibilityRoot() public {
        SpendCall memory operation = makeSend(2, 4, "a");
        operation.eligibilityRoot = uint256(eligibilityRoot);
        spend(operation);
    }

    /// @dev The outputs of a spend are notes like any other: they can be spent against the root that they made.
    function test_theOutputsCanBeSpentNext() public {
        spend(makeTransfer(2, 4, "a"));
        SpendCall memory next = makeSend(2, 4, "b");
        assertEq(next.noteRoot, uint256(pool.currentRoot()), "note root");
        spend(next);
    }

    /// @dev Two sets: what `fund` used does not use up a nullifier, whatever its number.
    function test_aUsedBatchIdIsNoUsedNullifier() public {
        SpendCall memory operation = makeTransfer(2, 4, "a");
        operation.nullifiers[0] = uint256(batchIdOf(makeBatch(16, FIRST)));
        spend(operation);
    }

    /// forge-config: default.fuzz.runs = 64
    function testFuzz_settlesWhateverIsSignedAndProved(uint256 seed, bool large, uint128 amount) public {
        SpendCall memory operation = large ? makeSend(16, 8, "a") : makeSend(2, 4, "a");
        authorise(operation, bound(seed, 1, 2 ** 250), seed % R, uint256(keccak256(abi.encode(seed))));
        operation.withdrawAmount = amount;
        if (amount == 0) operation.recipient = address(0);
        token.mint(address(pool), amount);
        for (uint256 i = 0; i < operation.nullifiers.length; i++) {
            operation.nullifiers[i] = uint256(keccak256(abi.encode(seed, i))) % R;
        }
        spend(operation);
        assertEq(token.balanceOf(recipient), amount, "the recipient's balance");
    }

    // What never stops it -----------------------------------------------------------------------------

    /// @dev P4.
    function test_P4_aPauseAndADisabledTokenDoNotStopIt() public {
        vm.prank(guardian);
        pool.pauseFunding();
        vm.prank(admin);
        pool.disableToken(address(token));
        spend(makeSend(2, 4, "a"));
        spend(makeTransfer(16, 8, "b"));
        FundBatch memory batch = makeBatch(16, "c");
        (bool paused, bool enabled) = (pool.paused(), pool.isTokenEnabled(batch.token));
        assertTrue(paused && !enabled, "the pause or the disabling went away");
    }

    function test_aRevocationDoesNotStopASend() public {
        vm.prank(gate);
        registry.revoke();
        spend(makeSend(2, 4, "a"));
    }

    /// @dev With the root 0 the registry is not asked: nothing that becomes of it stops a withdrawal.
    function test_aBrokenRegistryDoesNotStopASend() public {
        SpendCall memory operation = makeSend(2, 4, "a");
        vm.etch(address(registry), hex"fe");
        spend(operation);
    }

    function test_losingEveryRoleDoesNotStopIt() public {
        bytes32 relayerRole = pool.RELAYER_ROLE();
        vm.startPrank(admin);
        pool.revokeRole(relayerRole, relayer);
        pool.renounceRole(0, admin);
        vm.stopPrank();
        spend(makeSend(2, 4, "a"));
    }

    /// @dev A fork that keeps the state and gets a new chain id keeps the asset ids, so its notes can be spent.
    function test_anotherChainIdDoesNotStopIt() public {
        Spend memory made = complete(makeSend(2, 4, "a"));
        vm.chainId(1337);
        submit(made);
    }

    // Reads -------------------------------------------------------------------------------------------

    function test_anUnusedNullifierHasNoOutRoot() public view {
        assertEq(pool.nullifierUsed(fieldElement("unused")), bytes32(0), "outRoot");
    }

    function test_looksUpNoNullifierOutsideTheField() public {
        vm.expectRevert(PublicInputs.FieldElementOutOfRange.selector);
        pool.nullifierUsed(bytes32(R));
    }
}
