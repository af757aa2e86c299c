// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC20Errors} from "@openzeppelin/contracts/interfaces/draft-IERC6093.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {ReentrancyGuardTransient} from "@openzeppelin/contracts/utils/ReentrancyGuardTransient.sol";
import {FundBatch, IShieldedPool, SpendCall} from "../solidity/interfaces/IShieldedPool.sol";
import {ZeroFirstTestToken} from "../solidity/sandbox/ZeroFirstTestToken.sol";
import {SpendFixture} from "./support/SpendFixture.sol";
import {FeeToken, GreedyToken, LyingToken, ReenteringToken, RefundingToken, RefusingToken} from "./support/Tokens.sol";

/// @dev Withdrawals in tokens that misbehave.
contract ShieldedPoolSpendMoneyTest is SpendFixture {
    function _sendIn(address otherToken) private returns (SpendCall memory operation) {
        vm.prank(admin);
        pool.enableToken(otherToken);
        operation = makeSend(2, 4, "a");
        operation.token = otherToken;
    }

    function test_refusesMoreThanThePoolHas() public {
        SpendCall memory operation = makeSend(2, 4, "a");
        uint256 balance = token.balanceOf(address(pool));
        operation.withdrawAmount = balance + 1;
        expectSpendRefusal(
            operation,
            abi.encodeWithSelector(IERC20Errors.ERC20InsufficientBalance.selector, address(pool), balance, balance + 1)
        );
    }

    function test_paysATokenWithoutReturnValues() public {
        ZeroFirstTestToken old = new ZeroFirstTestToken("Old", "OLD", address(this));
        old.mint(address(pool), 1e12);
        SpendCall memory operation = _sendIn(address(old));
        spend(operation);
        assertEq(old.balanceOf(recipient), operation.withdrawAmount, "the recipient's balance");
    }

    /// @dev An issuer that switches a fee on must not freeze exits: the pool lost exactly what the notes lost.
    function test_paysATokenWhoseRecipientBearsAFee() public {
        FeeToken fee = new FeeToken();
        fee.mint(address(pool), 1e12);
        SpendCall memory operation = _sendIn(address(fee));
        spend(operation);
        assertEq(fee.balanceOf(address(pool)), 1e12 - operation.withdrawAmount, "the pool's balance");
        assertEq(fee.balanceOf(recipient), operation.withdrawAmount - 1, "the recipient's balance");
    }

    /// @dev A fee on top would be paid by the other holders' notes.
    function test_refusesATokenThatTakesMoreFromThePool() public {
        GreedyToken greedy = new GreedyToken();
        greedy.mint(address(pool), 1e12);
        SpendCall memory operation = _sendIn(address(greedy));
        _refusedAmount(operation, operation.withdrawAmount + 1);
    }

    /// @dev The holder's notes would be gone, and the tokens not paid.
    function test_refusesATokenThatMovesNothing() public {
        LyingToken lying = new LyingToken();
        _refusedAmount(_sendIn(address(lying)), 0);
    }

    function test_refusesATokenThatGivesThePoolSomething() public {
        RefundingToken refunding = new RefundingToken();
        refunding.mint(address(pool), 1e12);
        _refusedAmount(_sendIn(address(refunding)), 0);
    }

    function _refusedAmount(SpendCall memory operation, uint256 sent) private {
        expectSpendRefusal(
            operation, abi.encodeWithSelector(IShieldedPool.WrongAmountSent.selector, operation.withdrawAmount, sent)
        );
    }

    function test_refusesATokenThatAnswersNo() public {
        SpendCall memory operation = _sendIn(address(new RefusingToken()));
        expectSpendRefusal(
            operation, abi.encodeWithSelector(SafeERC20.SafeERC20FailedOperation.selector, operation.token)
        );
    }

    /// @dev A transfer does not call the token: a token whose code is gone or frozen stops no transfer of notes.
    function test_aTransferDoesNotCallTheToken() public {
        SpendCall memory operation = makeTransfer(2, 4, "a");
        vm.etch(address(token), hex"fe");
        spend(operation);
    }

    // Reentrancy --------------------------------------------------------------------------------------

    function test_cannotBeReenteredByAToken() public {
        ReenteringToken evil = new ReenteringToken();
        evil.mint(address(pool), 1e12);
        SpendCall memory outer = _sendIn(address(evil));
        SpendCall memory inner = makeSend(2, 4, "b");
        inner.token = address(evil);
        Spend memory second = complete(inner);
        evil.arm(address(pool), abi.encodeCall(pool.spend, (second.operation, second.proof, second.sealedNotes)));
        spend(outer);
        _innerCallWasRefused(evil);
        assertEq(evil.balanceOf(recipient), outer.withdrawAmount, "paid twice");
        // Alone, the inner call is valid.
        evil.arm(address(0), "");
        submit(second);
    }

    function test_cannotBeReenteredThroughFund() public {
        ReenteringToken evil = _armedForFund();
        spend(_sendIn(address(evil)));
        _innerCallWasRefused(evil);
    }

    function _armedForFund() private returns (ReenteringToken evil) {
        evil = new ReenteringToken();
        evil.mint(address(pool), 1e12);
        bytes32 role = pool.RELAYER_ROLE();
        vm.prank(admin);
        pool.grantRole(role, address(evil));
        FundBatch memory batch = makeBatch(16, "inner");
        evil.arm(address(pool), abi.encodeCall(pool.fund, (batch, prove(batch), sign(batch), noPermit())));
    }

    function test_fundCannotBeReenteredThroughSpend() public {
        ReenteringToken evil = new ReenteringToken();
        evil.mint(funder, 1e12);
        vm.prank(admin);
        pool.enableToken(address(evil));
        vm.prank(funder);
        evil.approve(address(pool), type(uint256).max);
        Spend memory inner = complete(makeSend(2, 4, "a"));
        evil.arm(address(pool), abi.encodeCall(pool.spend, (inner.operation, inner.proof, inner.sealedNotes)));
        FundBatch memory batch = makeBatch(16, "outer");
        batch.token = address(evil);
        fund(batch);
        _innerCallWasRefused(evil);
        submit(inner);
    }

    function _innerCallWasRefused(ReenteringToken evil) private view {
        assertTrue(!evil.succeeded(), "the inner call went through");
        assertEq(
            keccak256(evil.answer()),
            keccak256(encode(ReentrancyGuardTransient.ReentrancyGuardReentrantCall.selector)),
            "why the inner call failed"
        );
    }
}
