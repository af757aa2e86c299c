// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {ShieldedPool} from "../solidity/ShieldedPool.sol";
import {Groth16Proof} from "../solidity/interfaces/IGroth16Verifier.sol";
import {FundBatch, IShieldedPool, SpendCall} from "../solidity/interfaces/IShieldedPool.sol";
import {PublicInputs} from "../solidity/lib/PublicInputs.sol";
import {PoolTestToken} from "../solidity/sandbox/PoolTestToken.sol";
import {SpendFixture} from "./support/SpendFixture.sol";

/// @dev `spend`: one test per check. Signature and proof fit each call, except where the test says otherwise, so that
/// the check alone refuses it.
contract ShieldedPoolSpendChecksTest is SpendFixture {
    bytes internal outOfRange = encode(PublicInputs.FieldElementOutOfRange.selector);
    bytes internal invalidProof = encode(IShieldedPool.InvalidProof.selector);

    // When and what -----------------------------------------------------------------------------------

    function test_refusesOneSecondAfterTheDeadline() public {
        SpendCall memory operation = makeTransfer(2, 4, "a");
        vm.warp(operation.deadline + 1);
        expectSpendRefusal(
            operation, abi.encodeWithSelector(IShieldedPool.AuthorizationExpired.selector, operation.deadline)
        );
    }

    /// @dev A deadline beyond the field would be another one in the proof.
    function test_refusesADeadlineOutsideTheField() public {
        Spend memory made = complete(makeTransfer(2, 4, "a"));
        made.operation.deadline += R;
        expectSpendRefusal(made, outOfRange);
    }

    function test_refusesATokenThatWasNeverEnabled() public {
        SpendCall memory operation = makeTransfer(2, 4, "a");
        operation.token = address(registry);
        expectSpendRefusal(operation, abi.encodeWithSelector(IShieldedPool.TokenNotKnown.selector, operation.token));
    }

    function test_refusesEveryOtherPairOfLengths() public {
        uint256[2][10] memory sizes = [
            [uint256(0), 0],
            [uint256(2), 0],
            [uint256(0), 4],
            [uint256(1), 4],
            [uint256(3), 4],
            [uint256(2), 3],
            [uint256(2), 8],
            [uint256(16), 4],
            [uint256(15), 8],
            [uint256(4), 2]
        ];
        for (uint256 i = 0; i < sizes.length; i++) {
            SpendCall memory operation = makeTransfer(sizes[i][0], sizes[i][1], "a");
            expectSpendRefusal(
                operation, abi.encodeWithSelector(IShieldedPool.UnsupportedSpendSize.selector, sizes[i][0], sizes[i][1])
            );
        }
    }

    function test_refusesAnAmountAbove128Bits() public {
        SpendCall memory operation = makeSend(2, 4, "a");
        operation.withdrawAmount = 1 << 128;
        token.mint(address(pool), 1 << 128);
        expectSpendRefusal(operation, abi.encodeWithSelector(IShieldedPool.WithdrawAmountOutOfRange.selector, 1 << 128));
    }

    function test_refusesARecipientWithoutAnAmountAndAnAmountWithoutARecipient() public {
        SpendCall memory operation = makeTransfer(2, 4, "a");
        operation.recipient = recipient;
        expectSpendRefusal(operation, _invalidRecipient(recipient));
        operation = makeSend(2, 4, "a");
        operation.recipient = address(0);
        expectSpendRefusal(operation, _invalidRecipient(address(0)));
    }

    function test_refusesThePoolAndTheTokenAsRecipient() public {
        SpendCall memory operation = makeSend(2, 4, "a");
        operation.recipient = address(pool);
        expectSpendRefusal(operation, _invalidRecipient(address(pool)));
        operation.recipient = address(token);
        expectSpendRefusal(operation, _invalidRecipient(address(token)));
    }

    function _invalidRecipient(address account) private pure returns (bytes memory) {
        return abi.encodeWithSelector(IShieldedPool.InvalidRecipient.selector, account);
    }

    function test_refusesAZeroOutRoot() public {
        SpendCall memory operation = makeTransfer(2, 4, "a");
        operation.outRoot = 0;
        expectSpendRefusal(operation, encode(IShieldedPool.ZeroBatchRoot.selector));
    }

    // Once (P7) ---------------------------------------------------------------------------------------

    function test_P7_refusesTheSameSpendTwice() public {
        Spend memory made = complete(makeSend(2, 4, "a"));
        submit(made);
        expectSpendRefusal(made, _used(made.operation.nullifiers[0]));
    }

    function test_P7_refusesAUsedNullifierInEveryPlaceOfEveryOtherSpend() public {
        SpendCall memory first = makeTransfer(2, 4, "a");
        spend(first);
        for (uint256 i = 0; i < 16; i++) {
            SpendCall memory other = makeSend(16, 8, "b");
            other.nullifiers[i] = first.nullifiers[i % 2];
            expectSpendRefusal(other, _used(first.nullifiers[i % 2]));
        }
        SpendCall memory small = makeTransfer(2, 4, "c");
        small.nullifiers[1] = first.nullifiers[0];
        expectSpendRefusal(small, _used(first.nullifiers[0]));
    }

    /// @dev The set is one for all tokens. An honest nullifier contains the asset id, so none is lost by this.
    function test_P7_refusesAUsedNullifierInAnotherToken() public {
        SpendCall memory first = makeTransfer(2, 4, "a");
        spend(first);
        SpendCall memory other = makeTransfer(2, 4, "b");
        other.token = _anotherToken();
        other.nullifiers[0] = first.nullifiers[0];
        expectSpendRefusal(other, _used(first.nullifiers[0]));
    }

    function testFuzz_P7_refusesANullifierThatStandsTwiceInOneCall(uint256 i, uint256 j, bool large) public {
        SpendCall memory operation = large ? makeTransfer(16, 8, "a") : makeTransfer(2, 4, "a");
        (i, j) = (i % operation.nullifiers.length, j % operation.nullifiers.length);
        vm.assume(i != j);
        operation.nullifiers[i] = operation.nullifiers[j];
        expectSpendRefusal(
            operation, abi.encodeWithSelector(IShieldedPool.NullifierRepeated.selector, operation.nullifiers[i])
        );
        assertEq(pool.nullifierUsed(bytes32(operation.nullifiers[i])), bytes32(0), "a refused spend used a nullifier");
    }

    function test_P7_refusesAnAliasOfAUsedNullifier() public {
        Spend memory made = complete(makeSend(2, 4, "a"));
        submit(made);
        made = complete(makeSend(2, 4, "a"));
        made.operation.nullifiers[0] += R;
        made.operation.nullifiers[1] += R;
        expectSpendRefusal(made, outOfRange);
    }

    function _used(uint256 nullifier) private pure returns (bytes memory) {
        return abi.encodeWithSelector(IShieldedPool.NullifierUsed.selector, nullifier);
    }

    // Field elements (P6) -----------------------------------------------------------------------------

    function test_P6_refusesEveryAliasOfAFieldElement() public {
        for (uint256 position = 0; position < 2 + 16 + 8; position++) {
            Spend memory made = complete(makeTransfer(16, 8, "a"));
            if (position == 0) made.operation.D += R;
            else if (position == 1) made.operation.outRoot += R;
            else if (position < 18) made.operation.nullifiers[position - 2] += R;
            else made.operation.commitments[position - 18] += R;
            expectSpendRefusal(made, outOfRange);
        }
    }

    /// @dev The two roots are looked up, and nothing outside the field was ever stored.
    function test_P6_refusesAnAliasOfARoot() public {
        Spend memory made = complete(makeTransfer(2, 4, "a"));
        made.operation.noteRoot += R;
        expectSpendRefusal(
            made, abi.encodeWithSelector(IShieldedPool.NoteRootNotKnown.selector, made.operation.noteRoot)
        );
        made = complete(makeTransfer(2, 4, "a"));
        made.operation.eligibilityRoot += R;
        expectSpendRefusal(made, _notAccepted(made.operation.eligibilityRoot));
        // r is another spelling of "no eligibility".
        made = complete(makeSend(2, 4, "a"));
        made.operation.eligibilityRoot = R;
        expectSpendRefusal(made, _notAccepted(R));
    }

    // Roots -------------------------------------------------------------------------------------------

    function test_refusesAnUnknownNoteRootAndZero() public {
        SpendCall memory operation = makeTransfer(2, 4, "a");
        uint256[3] memory unknown = [uint256(0), uint256(fieldElement("no root")), operation.outRoot];
        for (uint256 i = 0; i < unknown.length; i++) {
            operation.noteRoot = unknown[i];
            expectSpendRefusal(operation, abi.encodeWithSelector(IShieldedPool.NoteRootNotKnown.selector, unknown[i]));
        }
    }

    function test_refusesAnUnknownExpiredOrRevokedEligibilityRoot() public {
        SpendCall memory operation = makeTransfer(2, 4, "a");
        operation.deadline += GRACE;
        bytes memory refusal = _notAccepted(operation.eligibilityRoot);
        vm.prank(gate);
        registry.publish(fieldElement("newer root"));
        vm.warp(START + GRACE);
        expectSpendRefusal(operation, refusal);

        vm.prank(gate);
        registry.publish(eligibilityRoot);
        vm.prank(gate);
        registry.revoke();
        expectSpendRefusal(operation, refusal);

        operation.eligibilityRoot = uint256(fieldElement("unknown root"));
        expectSpendRefusal(operation, _notAccepted(operation.eligibilityRoot));
    }

    function _notAccepted(uint256 root) private pure returns (bytes memory) {
        return abi.encodeWithSelector(IShieldedPool.EligibilityRootNotAccepted.selector, bytes32(root));
    }

    // Sealed notes ------------------------------------------------------------------------------------

    function test_refusesSealedNotesOfAnotherLength() public {
        uint256[6] memory lengths = [uint256(0), 209, 4 * 209 - 1, 4 * 209 + 1, 5 * 209, 8 * 209];
        for (uint256 i = 0; i < lengths.length; i++) {
            Spend memory made;
            made.operation = makeTransfer(2, 4, "a");
            made.sealedNotes = new bytes(lengths[i]);
            made.proof = proveSpend(made.operation, made.sealedNotes);
            expectSpendRefusal(
                made, abi.encodeWithSelector(IShieldedPool.WrongSealedNotesLength.selector, 4 * 209, lengths[i])
            );
        }
    }

    function testFuzz_refusesSealedNotesThatTheSenderChanged(uint256 position, bytes1 change) public {
        vm.assume(change != 0);
        Spend memory made = complete(makeTransfer(2, 4, "a"));
        made.sealedNotes[position % (4 * 209)] ^= change;
        expectSpendRefusal(made, invalidProof);
    }

    // The authorisation (SpendAuthorization.t.sol has every check of it) --------------------------------

    function test_refusesTheSignatureOfAnotherKey() public {
        SpendCall memory operation = makeSend(2, 4, "a");
        SpendCall memory thief = makeSend(2, 4, "a");
        authorise(thief, uint256(keccak256("thief")), uint256(fieldElement("a/m")), uint256(keccak256("a")));
        (operation.rSig, operation.s, operation.parity) = (thief.rSig, thief.s, thief.parity);
        expectSpendRefusal(operation, encode(IShieldedPool.InvalidSpendSignature.selector));
    }

    /// @dev Protocol §5: W', m' and rSig are elements of x, so a proof cannot be used with another authorisation.
    function test_refusesAProofUnderAnotherAuthorisation() public {
        Spend memory made = complete(makeSend(2, 4, "a"));
        authorise(made.operation, uint256(keccak256("thief")), uint256(fieldElement("a/m")), 1);
        expectSpendRefusal(made, invalidProof);
    }

    // The proof ---------------------------------------------------------------------------------------

    function test_refusesAnInvalidProof() public {
        Spend memory made = complete(makeSend(2, 4, "a"));
        made.proof.c = made.proof.a;
        expectSpendRefusal(made, invalidProof);
        Groth16Proof memory empty;
        made.proof = empty;
        expectSpendRefusal(made, invalidProof);
    }

    /// @dev What a sender who sees the call could gain by changing it.
    function test_refusesAnotherRecipientAmountOrDeadline() public {
        Spend memory made = complete(makeSend(2, 4, "a"));
        made.operation.recipient = stranger;
        expectSpendRefusal(made, invalidProof);
        made = complete(makeSend(2, 4, "a"));
        made.operation.withdrawAmount += 1;
        expectSpendRefusal(made, invalidProof);
        made = complete(makeSend(2, 4, "a"));
        made.operation.deadline += 1;
        expectSpendRefusal(made, invalidProof);
        submit(complete(makeSend(2, 4, "a")));
    }

    /// @dev Protocol §5: D binds every element. One changes, D and proof stay, and the spend must be refused.
    function test_refusesEveryElementFlippedAgainstAFixedDigest() public {
        // Another known note root and another accepted eligibility root.
        SpendCall memory before = makeTransfer(2, 4, "a");
        fund(makeBatch(16, "second"));
        vm.prank(gate);
        registry.publish(fieldElement("newer root"));
        address other = _anotherToken();
        _refusesFlips(makeTransfer(2, 4, "a"), before.noteRoot, other);
        _refusesFlips(makeTransfer(16, 8, "b"), before.noteRoot, other);
    }

    function _refusesFlips(SpendCall memory operation, uint256 otherNoteRoot, address otherToken) private {
        Spend memory made = complete(operation);
        operation = made.operation;
        (operation.token, otherToken) = (otherToken, operation.token);
        expectSpendRefusal(made, invalidProof);
        (operation.token, otherToken) = (otherToken, operation.token);

        operation.outRoot ^= 1;
        expectSpendRefusal(made, invalidProof);
        operation.outRoot ^= 1;

        for (uint256 i = 0; i < operation.nullifiers.length; i++) {
            operation.nullifiers[i] ^= 1;
            expectSpendRefusal(made, invalidProof);
            operation.nullifiers[i] ^= 1;
        }
        for (uint256 i = 0; i < operation.commitments.length; i++) {
            operation.commitments[i] ^= 1;
            expectSpendRefusal(made, invalidProof);
            operation.commitments[i] ^= 1;
        }

        (operation.noteRoot, otherNoteRoot) = (otherNoteRoot, operation.noteRoot);
        expectSpendRefusal(made, invalidProof);
        (operation.noteRoot, otherNoteRoot) = (otherNoteRoot, operation.noteRoot);

        uint256 root = operation.eligibilityRoot;
        operation.eligibilityRoot = 0;
        expectSpendRefusal(made, invalidProof);
        operation.eligibilityRoot = uint256(fieldElement("newer root"));
        expectSpendRefusal(made, invalidProof);
        operation.eligibilityRoot = root;

        operation.D ^= 1;
        expectSpendRefusal(made, invalidProof);
        operation.D ^= 1;

        // Put back, the very same spend settles: the refusals above had no other reason.
        submit(made);
    }

    function test_refusesSwappedCommitmentsAndNullifiers() public {
        Spend memory made = complete(makeTransfer(2, 4, "a"));
        uint256[] memory outputs = made.operation.commitments;
        (outputs[0], outputs[1]) = (outputs[1], outputs[0]);
        expectSpendRefusal(made, invalidProof);
        made = complete(makeTransfer(2, 4, "a"));
        uint256[] memory inputs = made.operation.nullifiers;
        (inputs[0], inputs[1]) = (inputs[1], inputs[0]);
        expectSpendRefusal(made, invalidProof);
    }

    /// @dev Another pool with the same token and the same note root has another asset id.
    function test_refusesTheSpendOfAnotherPool() public {
        Spend memory made = complete(makeSend(2, 4, "a"));
        ShieldedPool first = pool;
        pool = new ShieldedPool(admin, guardian, relayer, registry, verifiers());
        vm.prank(admin);
        pool.enableToken(address(token));
        vm.prank(funder);
        token.approve(address(pool), type(uint256).max);
        fund(makeBatch(16, FIRST));
        assertEq(pool.currentRoot(), first.currentRoot(), "the trees differ");
        expectSpendRefusal(made, invalidProof);
        pool = first;
        submit(made);
    }

    function test_aRefusedSpendChangesNothing() public {
        Spend memory made = complete(makeSend(2, 4, "a"));
        bytes32 root = pool.currentRoot();
        uint256 balance = token.balanceOf(address(pool));
        made.operation.D ^= 1;
        expectSpendRefusal(made, invalidProof);
        assertEq(pool.currentRoot(), root, "root");
        assertEq(pool.batchCount(), 1, "count");
        assertEq(token.balanceOf(address(pool)), balance, "balance");
        assertEq(pool.nullifierUsed(bytes32(made.operation.nullifiers[0])), bytes32(0), "nullifier");
    }

    function _anotherToken() private returns (address other) {
        other = address(new PoolTestToken("Other", "OTH", address(this)));
        vm.prank(admin);
        pool.enableToken(other);
    }
}
