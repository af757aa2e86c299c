// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IAccessControl} from "@openzeppelin/contracts/access/IAccessControl.sol";
import {Pausable} from "@openzeppelin/contracts/utils/Pausable.sol";
import {ShieldedPool} from "../solidity/ShieldedPool.sol";
import {IEligibilityRegistry} from "../solidity/interfaces/IEligibilityRegistry.sol";
import {CircuitVerifier, IGroth16Verifier} from "../solidity/interfaces/IGroth16Verifier.sol";
import {FundBatch, IShieldedPool} from "../solidity/interfaces/IShieldedPool.sol";
import {PoolFixture} from "./support/PoolFixture.sol";
import {TrapdoorVerifier} from "./support/TrapdoorVerifier.sol";

/// @dev Who may do what, and what construction demands.
contract ShieldedPoolRolesTest is PoolFixture {
    function _expectMissingRole(address account, bytes32 role) private {
        vm.prank(account);
        vm.expectRevert(abi.encodeWithSelector(IAccessControl.AccessControlUnauthorizedAccount.selector, account, role));
    }

    function test_onlyTheAdministratorEnablesAndDisablesTokens() public {
        address[4] memory others = [guardian, relayer, gate, stranger];
        for (uint256 i = 0; i < others.length; i++) {
            _expectMissingRole(others[i], 0);
            pool.enableToken(address(registry));
            _expectMissingRole(others[i], 0);
            pool.disableToken(address(token));
        }
    }

    function test_onlyTheGuardianPausesAndOnlyTheAdministratorResumes() public {
        bytes32 guardianRole = pool.GUARDIAN_ROLE();
        address[3] memory notGuardian = [admin, relayer, stranger];
        for (uint256 i = 0; i < notGuardian.length; i++) {
            _expectMissingRole(notGuardian[i], guardianRole);
            pool.pauseFunding();
        }
        vm.prank(guardian);
        pool.pauseFunding();
        assertTrue(pool.paused(), "not paused");
        vm.prank(guardian);
        vm.expectRevert(Pausable.EnforcedPause.selector);
        pool.pauseFunding();

        address[3] memory notAdmin = [guardian, relayer, stranger];
        for (uint256 i = 0; i < notAdmin.length; i++) {
            _expectMissingRole(notAdmin[i], 0);
            pool.resumeFunding();
        }
        vm.prank(admin);
        pool.resumeFunding();
        assertTrue(!pool.paused(), "still paused");
        vm.prank(admin);
        vm.expectRevert(Pausable.ExpectedPause.selector);
        pool.resumeFunding();
    }

    function test_enablesOnlyContracts() public {
        vm.prank(admin);
        vm.expectRevert(abi.encodeWithSelector(IShieldedPool.NotAToken.selector, stranger));
        pool.enableToken(stranger);
    }

    function test_disablesOnlyEnabledTokens() public {
        vm.startPrank(admin);
        vm.expectRevert(abi.encodeWithSelector(IShieldedPool.TokenNotEnabled.selector, address(registry)));
        pool.disableToken(address(registry));
        pool.disableToken(address(token));
        vm.expectRevert(abi.encodeWithSelector(IShieldedPool.TokenNotEnabled.selector, address(token)));
        pool.disableToken(address(token));
        vm.stopPrank();
    }

    function test_cachesTheAssetIdAndKeepsItWhenDisabled() public {
        bytes32 expected = bytes32(uint256(keccak256(abi.encode(block.chainid, address(pool), address(token)))) % R);
        assertEq(pool.assetIdOf(address(token)), expected, "asset id");
        assertTrue(pool.isTokenEnabled(address(token)), "not enabled");
        vm.startPrank(admin);
        vm.expectEmit(address(pool));
        emit IShieldedPool.TokenDisabled(address(token));
        pool.disableToken(address(token));
        assertEq(pool.assetIdOf(address(token)), expected, "asset id after disabling");
        assertTrue(!pool.isTokenEnabled(address(token)), "still enabled");
        vm.expectEmit(address(pool));
        emit IShieldedPool.TokenEnabled(address(token), expected);
        pool.enableToken(address(token));
        vm.stopPrank();
        assertEq(pool.assetIdOf(address(registry)), bytes32(0), "asset id of a stranger");
        assertTrue(!pool.isTokenEnabled(address(registry)), "a stranger is enabled");
    }

    /// @dev Notes carry the asset id. After a chain id changed (a fork that keeps its state), another one would
    /// orphan every note of the token.
    function test_enablingAgainKeepsTheFirstAssetIdOnAnotherChainIdToo() public {
        bytes32 first = pool.assetIdOf(address(token));
        vm.chainId(1337);
        vm.startPrank(admin);
        pool.enableToken(address(token));
        assertEq(pool.assetIdOf(address(token)), first, "asset id after enabling an enabled token");
        pool.disableToken(address(token));
        assertEq(pool.assetIdOf(address(token)), first, "asset id after disabling");
        vm.expectEmit(address(pool));
        emit IShieldedPool.TokenEnabled(address(token), first);
        pool.enableToken(address(token));
        vm.stopPrank();
        assertEq(pool.assetIdOf(address(token)), first, "asset id after enabling again");
        assertTrue(pool.isTokenEnabled(address(token)), "not enabled");
    }

    /// @dev What the new chain enables first is named after the new chain.
    function test_aTokenThatIsEnabledFirstOnANewChainIdIsNamedAfterIt() public {
        vm.chainId(1337);
        vm.prank(admin);
        pool.enableToken(address(registry));
        bytes32 expected = bytes32(uint256(keccak256(abi.encode(1337, address(pool), address(registry)))) % R);
        assertEq(pool.assetIdOf(address(registry)), expected, "asset id");
    }

    /// @dev P4.
    function test_P4_pausingAndDisablingChangeNothingElse() public {
        FundBatch memory batch = makeBatch(16, "a");
        fund(batch);
        bytes32 root = pool.currentRoot();
        vm.prank(guardian);
        pool.pauseFunding();
        vm.prank(admin);
        pool.disableToken(address(token));
        assertTrue(pool.isKnownRoot(root), "a root is forgotten");
        assertEq(pool.currentRoot(), root, "current root");
        assertEq(pool.batchCount(), 1, "count");
        assertEq(pool.batchNonceUsed(batch.funder, batch.batchNonce), batch.batchRoot, "nonce");
        assertEq(token.balanceOf(address(pool)), batch.total, "balance");
    }

    function test_beforeTheFirstBatchThereIsNoRoot() public view {
        assertEq(pool.currentRoot(), bytes32(0), "current root");
        assertTrue(!pool.isKnownRoot(bytes32(0)), "zero is a known root");
    }

    function test_constructionRefusesEveryMissingRole() public {
        for (uint256 missing = 0; missing < 3; missing++) {
            vm.expectRevert(IShieldedPool.ZeroAddress.selector);
            new ShieldedPool(
                missing == 0 ? address(0) : admin,
                missing == 1 ? address(0) : guardian,
                missing == 2 ? address(0) : relayer,
                registry,
                verifiers()
            );
        }
    }

    /// @dev On every chain: with a spend verifier that does not exist, what comes in could never leave.
    function test_constructionRefusesARegistryOrVerifierWithoutCode() public {
        vm.chainId(8453);
        _refuses(address(0));
        _refuses(stranger);
    }

    function _refuses(address codeless) private {
        IGroth16Verifier none = IGroth16Verifier(codeless);
        for (uint256 missing = 0; missing < 6; missing++) {
            CircuitVerifier[] memory all = verifiers();
            if (missing > 0) all[missing - 1].verifier = none;
            vm.expectRevert(abi.encodeWithSelector(IShieldedPool.NoCode.selector, codeless));
            new ShieldedPool(
                admin, guardian, relayer, IEligibilityRegistry(missing == 0 ? codeless : address(registry)), all
            );
        }
    }

    /// @dev Each list lacks a kind of circuit, has one too many, or has a circuit without commitments.
    function test_constructionRefusesAListThatAPoolCannotUse() public {
        CircuitVerifier[] memory all = verifiers();
        CircuitVerifier[] memory none = new CircuitVerifier[](0);
        _refusesList(none);
        for (uint64 inputs = 0; inputs < 2; inputs++) {
            CircuitVerifier[] memory oneKind = new CircuitVerifier[](1);
            oneKind[0] = CircuitVerifier(inputs, 16, verifier16);
            _refusesList(oneKind);
            CircuitVerifier[] memory many = new CircuitVerifier[](6);
            for (uint64 i = 0; i < 6; i++) {
                many[i] = CircuitVerifier(i == 5 ? 1 - inputs : inputs, 1 + i, verifier16);
            }
            _refusesList(many);
        }
        all[1].outputs = 0;
        _refusesList(all);
    }

    function _refusesList(CircuitVerifier[] memory list) private {
        vm.expectRevert(IShieldedPool.InvalidVerifiers.selector);
        new ShieldedPool(admin, guardian, relayer, registry, list);
    }

    /// @dev A pool takes any sizes, and four of each kind.
    function test_aPoolKeepsTheListOfItsVerifiers() public {
        CircuitVerifier[] memory list = new CircuitVerifier[](8);
        for (uint64 i = 0; i < 8; i++) {
            list[i] = CircuitVerifier(i / 4 * (i + 1), 10 + i, IGroth16Verifier(new TrapdoorVerifier()));
        }
        ShieldedPool other = new ShieldedPool(admin, guardian, relayer, registry, list);
        for (uint256 i = 0; i < 8; i++) {
            assertEq(
                address(other.verifierFor(list[i].inputs, list[i].outputs)),
                address(list[i].verifier),
                "another verifier"
            );
        }
        vm.expectRevert(abi.encodeWithSelector(IShieldedPool.UnsupportedBatchSize.selector, 16));
        other.verifierFor(0, 16);
        vm.expectRevert(abi.encodeWithSelector(IShieldedPool.UnsupportedSpendSize.selector, 2, 4));
        other.verifierFor(2, 4);
    }

    function _deployOn(uint256 chainId) private returns (ShieldedPool) {
        vm.chainId(chainId);
        return new ShieldedPool(admin, guardian, relayer, registry, verifiers());
    }

    /// @dev What comes in can leave by `spend`, so a pool may exist anywhere. Verifiers with development keys refuse public
    /// chains themselves (Groth16Verifier.t.sol).
    function test_aPoolCanBeMadeOnEveryChain() public {
        uint256[7] memory chains = [uint256(31337), 1337, 1, 10, 8453, 11155111, 31338];
        for (uint256 i = 0; i < chains.length; i++) {
            assertTrue(!_deployOn(chains[i]).paused(), "no pool");
        }
    }

    function test_theDeployerHoldsNoRole() public view {
        assertTrue(!pool.hasRole(bytes32(0), address(this)), "the deployer is administrator");
        assertTrue(!pool.hasRole(pool.RELAYER_ROLE(), admin), "the administrator is relayer");
        assertTrue(!pool.hasRole(pool.GUARDIAN_ROLE(), admin), "the administrator is guardian");
    }
}
