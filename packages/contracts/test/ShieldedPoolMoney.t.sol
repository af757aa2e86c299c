// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC20Errors} from "@openzeppelin/contracts/interfaces/draft-IERC6093.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {ReentrancyGuardTransient} from "@openzeppelin/contracts/utils/ReentrancyGuardTransient.sol";
import {Groth16Proof} from "../solidity/interfaces/IGroth16Verifier.sol";
import {FundBatch, IShieldedPool, Permit} from "../solidity/interfaces/IShieldedPool.sol";
import {ZeroFirstTestToken} from "../solidity/sandbox/ZeroFirstTestToken.sol";
import {PoolFixture} from "./support/PoolFixture.sol";
import {BonusToken, FeeToken, LyingToken, ReenteringToken, RefusingToken} from "./support/Tokens.sol";

/// @dev Permits, allowances and tokens that misbehave.
contract ShieldedPoolMoneyTest is PoolFixture {
    // Permit ------------------------------------------------------------------------------------------

    function _permit(uint256 value, uint256 deadline) private view returns (Permit memory permit) {
        bytes32 structHash = keccak256(
            abi.encode(
                keccak256("Permit(address owner,address spender,uint256 value,uint256 nonce,uint256 deadline)"),
                funder,
                address(pool),
                value,
                token.nonces(funder),
                deadline
            )
        );
        (uint8 v, bytes32 r, bytes32 s) =
            vm.sign(FUNDER_KEY, keccak256(abi.encodePacked("\x19\x01", token.DOMAIN_SEPARATOR(), structHash)));
        return Permit({value: value, deadline: deadline, v: v, r: r, s: s});
    }

    function _takeAllowanceAway() private {
        vm.prank(funder);
        token.approve(address(pool), 0);
    }

    function test_spendsAPermitInTheSameTransaction() public {
        _takeAllowanceAway();
        FundBatch memory batch = makeBatch(16, "a");
        fundWith(batch, prove(batch), sign(batch), _permit(batch.total, batch.deadline));
        assertEq(token.balanceOf(address(pool)), batch.total, "the pool's balance");
        assertEq(token.allowance(funder, address(pool)), 0, "nothing is left of the allowance");
    }

    function test_landsWhenSomebodyElseSubmittedThePermitFirst() public {
        _takeAllowanceAway();
        FundBatch memory batch = makeBatch(16, "a");
        Permit memory permit = _permit(batch.total, batch.deadline);
        vm.prank(stranger);
        token.permit(funder, address(pool), permit.value, permit.deadline, permit.v, permit.r, permit.s);
        fundWith(batch, prove(batch), sign(batch), permit);
        assertEq(token.balanceOf(address(pool)), batch.total, "the pool's balance");
    }

    function test_refusesWithTheTokensReasonWhenThePermitDoesNotHold() public {
        _takeAllowanceAway();
        FundBatch memory batch = makeBatch(16, "a");
        Permit memory permit = _permit(batch.total, batch.deadline);
        permit.s = bytes32(uint256(permit.s) ^ 1);
        (Groth16Proof memory proof, bytes memory signature) = (prove(batch), sign(batch));
        vm.prank(relayer);
        vm.expectRevert(
            abi.encodeWithSelector(
                IERC20Errors.ERC20InsufficientAllowance.selector, address(pool), uint256(0), batch.total
            )
        );
        pool.fund(batch, proof, signature, permit);
    }

    function test_aPermitOfZeroIsNoPermit() public {
        FundBatch memory batch = makeBatch(16, "a");
        // Submitted, it would take the standing allowance away.
        fundWith(batch, prove(batch), sign(batch), _permit(0, batch.deadline));
        assertEq(token.nonces(funder), 0, "the permit was submitted");
    }

    function test_refusesWithoutAllowance() public {
        _takeAllowanceAway();
        FundBatch memory batch = makeBatch(16, "a");
        expectRefusal(
            batch,
            abi.encodeWithSelector(
                IERC20Errors.ERC20InsufficientAllowance.selector, address(pool), uint256(0), batch.total
            )
        );
    }

    function test_refusesWithoutBalance() public {
        vm.prank(funder);
        token.transfer(stranger, FUNDS);
        FundBatch memory batch = makeBatch(16, "a");
        expectRefusal(
            batch,
            abi.encodeWithSelector(IERC20Errors.ERC20InsufficientBalance.selector, funder, uint256(0), batch.total)
        );
        assertEq(pool.batchNonceUsed(batch.funder, batch.batchNonce), bytes32(0), "a refused batch used its nonce");
        assertEq(pool.batchCount(), 0, "a refused batch was counted");
    }

    // Tokens ------------------------------------------------------------------------------------------

    function _batchIn(address otherToken) private returns (FundBatch memory batch) {
        vm.prank(admin);
        pool.enableToken(otherToken);
        batch = makeBatch(16, "a");
        batch.token = otherToken;
    }

    function test_takesATokenWithoutReturnValuesAndWithoutPermit() public {
        ZeroFirstTestToken old = new ZeroFirstTestToken("Old", "OLD", address(this));
        old.mint(funder, 1e12);
        FundBatch memory batch = _batchIn(address(old));
        vm.prank(funder);
        old.approve(address(pool), batch.total);
        // A permit for a token that has none is ignored.
        Permit memory permit = Permit({value: 1, deadline: batch.deadline, v: 27, r: 0, s: 0});
        fundWith(batch, prove(batch), sign(batch), permit);
        assertEq(old.balanceOf(address(pool)), batch.total, "the pool's balance");
        assertEq(old.allowance(funder, address(pool)), 0, "the allowance");
    }

    function test_refusesATokenThatTakesAFee() public {
        FeeToken fee = new FeeToken();
        fee.mint(funder, 1e12);
        FundBatch memory batch = _batchIn(address(fee));
        vm.prank(funder);
        fee.approve(address(pool), batch.total);
        expectRefusal(
            batch, abi.encodeWithSelector(IShieldedPool.WrongAmountReceived.selector, batch.total, batch.total - 1)
        );
    }

    function test_refusesATokenThatGivesMore() public {
        BonusToken bonus = new BonusToken();
        bonus.mint(funder, 1e12);
        FundBatch memory batch = _batchIn(address(bonus));
        vm.prank(funder);
        bonus.approve(address(pool), batch.total);
        expectRefusal(
            batch, abi.encodeWithSelector(IShieldedPool.WrongAmountReceived.selector, batch.total, batch.total + 1)
        );
    }

    function test_refusesATokenThatLies() public {
        FundBatch memory batch = _batchIn(address(new LyingToken()));
        expectRefusal(
            batch, abi.encodeWithSelector(IShieldedPool.WrongAmountReceived.selector, batch.total, uint256(0))
        );
    }

    function test_refusesATokenThatAnswersNo() public {
        FundBatch memory batch = _batchIn(address(new RefusingToken()));
        expectRefusal(batch, abi.encodeWithSelector(SafeERC20.SafeERC20FailedOperation.selector, batch.token));
    }

    function test_countsOnlyWhatThisBatchBroughtDespiteDonations() public {
        token.mint(address(pool), 12_345);
        FundBatch memory batch = makeBatch(16, "a");
        fund(batch);
        assertEq(token.balanceOf(address(pool)), 12_345 + batch.total, "the pool's balance");
    }

    function test_cannotBeReenteredByAToken() public {
        ReenteringToken evil = new ReenteringToken();
        evil.mint(funder, 1e12);
        bytes32 role = pool.RELAYER_ROLE();
        FundBatch memory batch = _batchIn(address(evil));
        vm.prank(funder);
        evil.approve(address(pool), type(uint256).max);
        // Even a token that is a relayer itself, with a second batch that would be valid.
        vm.prank(admin);
        pool.grantRole(role, address(evil));
        FundBatch memory second = makeBatch(16, "b");
        evil.arm(address(pool), abi.encodeCall(pool.fund, (second, prove(second), sign(second), noPermit())));
        fund(batch);
        assertTrue(!evil.succeeded(), "the inner call went through");
        assertEq(
            keccak256(evil.answer()),
            keccak256(encode(ReentrancyGuardTransient.ReentrancyGuardReentrantCall.selector)),
            "why the inner call failed"
        );
        assertEq(pool.batchCount(), 1, "count");
    }
}
