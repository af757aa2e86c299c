// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {SpendCall} from "../../solidity/interfaces/IShieldedPool.sol";
import {PoolHandler} from "./PoolHandler.sol";

/// @dev What the world may do with spends, between everything that `PoolHandler` does: honest transfers and sends, replays,
/// used nullifiers in new spends, changed calls, and calls without the holder's signature.
contract SpendHandler is PoolHandler {
    uint256 public totalWithdrawn;
    uint256 public spends;
    uint256 public nullifiersUsed;

    Spend[] internal _settled;
    mapping(uint256 nullifier => uint256) internal _outRootOf;
    uint256 private _spendSerial;

    // Honest life -------------------------------------------------------------------------------------

    /// @dev Withdraws at most what the notes hold, as the real circuit proves. Pauses and disabled tokens do not matter.
    function spendHonestly(uint256 amount, bool large, uint256 rootIndex) external {
        if (_roots.length == 0) return;
        SpendCall memory operation = _make(large, bound(amount, 0, totalFunded + totalForeign - totalWithdrawn));
        operation.noteRoot = uint256(_roots[rootIndex % _roots.length]);
        Spend memory made = complete(operation);
        vm.prank(stranger);
        try pool.spend(made.operation, made.proof, made.sealedNotes) {
            _rememberSpend(made);
        } catch {
            violation = "P4: an honest spend was refused";
        }
    }

    function _make(bool large, uint256 amount) private returns (SpendCall memory operation) {
        string memory label = string.concat("spend/", vm.toString(_spendSerial++));
        operation = large ? makeTransfer(16, 8, label) : makeTransfer(2, 4, label);
        operation.eligibilityRoot = 0;
        (operation.withdrawAmount, operation.recipient) = (amount, amount == 0 ? address(0) : recipient);
    }

    function _rememberSpend(Spend memory made) private {
        SpendCall memory operation = made.operation;
        for (uint256 i = 0; i < operation.nullifiers.length; i++) {
            if (_outRootOf[operation.nullifiers[i]] != 0) violation = "P7: a nullifier was used twice";
            _outRootOf[operation.nullifiers[i]] = operation.outRoot;
        }
        nullifiersUsed += operation.nullifiers.length;
        totalWithdrawn += operation.withdrawAmount;
        spends++;
        _roots.push(pool.currentRoot());
        _settled.push(made);
    }

    // Attacks -----------------------------------------------------------------------------------------

    function replaySpend(uint256 which) external {
        if (_settled.length == 0) return;
        Spend memory made = _settled[which % _settled.length];
        made.operation.deadline = block.timestamp + 1;
        made.proof = proveSpend(made.operation, made.sealedNotes);
        _expectSpendRefused(made, stranger, "P7: a replay landed");
    }

    /// @dev A new spend, valid but for one nullifier that is used, or that it has twice.
    function reuseNullifier(uint256 which, uint256 position, bool twice) external {
        if (_settled.length == 0) return;
        SpendCall memory operation = _make(position % 2 == 0, 0);
        operation.noteRoot = uint256(_roots[0]);
        uint256[] memory nullifiers = operation.nullifiers;
        uint256[] memory used = _settled[which % _settled.length].operation.nullifiers;
        position %= nullifiers.length;
        nullifiers[position] = twice ? nullifiers[(position + 1) % nullifiers.length] : used[which % used.length];
        _expectSpendRefused(complete(operation), stranger, "P7: a used nullifier was used again");
    }

    /// @dev Whoever sees an honest call changes it and sends it first.
    function tamperWithSpend(uint256 how, uint256 salt) external {
        if (_roots.length == 0) return;
        Spend memory made = complete(_make(false, 1 + salt % 1000));
        made.operation.noteRoot = uint256(_roots[salt % _roots.length]);
        made.proof = proveSpend(made.operation, made.sealedNotes);
        how %= 6;
        if (how == 0) made.operation.recipient = stranger;
        if (how == 1) made.operation.withdrawAmount += 1 + salt % 1000;
        if (how == 2) made.operation.commitments[salt % 4] = uint256(fieldElement("the sender's own note"));
        if (how == 3) made.sealedNotes[salt % made.sealedNotes.length] ^= 0x01;
        if (how == 4) made.operation.outRoot = uint256(fieldElement("another root"));
        if (how == 5) made.operation.nullifiers[salt % 2] = uint256(fieldElement("another nullifier"));
        _expectSpendRefused(made, stranger, "P5: a changed spend landed");
    }

    /// @dev No role, and no proof, makes the holder's signature unnecessary.
    function spendWithoutSignature(uint256 who, uint256 salt) external {
        if (_roots.length == 0) return;
        SpendCall memory operation = _make(false, 1);
        operation.noteRoot = uint256(_roots[0]);
        (uint8 v, bytes32 r, bytes32 s) =
            vm.sign(uint256(keccak256(abi.encode("thief", salt))), bytes32(operation.maskedDigest));
        (operation.rSig, operation.s, operation.parity) = (uint256(r), uint256(s), v - 27);
        address[5] memory actors = [admin, guardian, relayer, gate, stranger];
        _expectSpendRefused(complete(operation), actors[who % 5], "P5: tokens left without the holder's signature");
    }

    function _expectSpendRefused(Spend memory made, address sender, string memory otherwise) private {
        vm.prank(sender);
        try pool.spend(made.operation, made.proof, made.sealedNotes) {
            violation = otherwise;
        } catch {
            refusedForgeries++;
        }
    }

    // What the invariants read ------------------------------------------------------------------------

    function receiver() external view returns (address) {
        return recipient;
    }

    function spentNullifiers(uint256 index) external view returns (uint256[] memory nullifiers, uint256 outRoot) {
        SpendCall storage operation = _settled[index].operation;
        return (operation.nullifiers, operation.outRoot);
    }
}
