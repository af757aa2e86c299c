// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IAccessControl} from "@openzeppelin/contracts/access/IAccessControl.sol";
import {EligibilityRegistry} from "../solidity/EligibilityRegistry.sol";
import {IEligibilityRegistry} from "../solidity/interfaces/IEligibilityRegistry.sol";
import {TestBase} from "./support/TestBase.sol";

contract EligibilityRegistryTest is TestBase {
    uint256 internal constant R = 0x30644e72e131a029b85045b68181585d2833e84879b9709143e1f593f0000001;
    uint256 internal constant START = 1_800_000_000;
    uint64 internal constant GRACE = 1 hours;
    bytes32 internal constant A = bytes32(uint256(0xa));
    bytes32 internal constant B = bytes32(uint256(0xb));

    address internal gate = address(0x6a7e);
    EligibilityRegistry internal registry;

    function setUp() public {
        vm.warp(START);
        registry = new EligibilityRegistry(address(this), gate, GRACE);
        vm.startPrank(gate);
    }

    function test_constructionBoundsTheGracePeriod() public {
        uint64[2] memory allowed = [uint64(3_000), 1 days];
        for (uint256 i = 0; i < 2; i++) {
            uint64 seconds_ = new EligibilityRegistry(address(this), gate, allowed[i]).gracePeriodSeconds();
            assertEq(seconds_, allowed[i], "grace period");
        }
        uint64[4] memory refused = [uint64(0), 2_999, 1 days + 1, type(uint64).max];
        for (uint256 i = 0; i < 4; i++) {
            vm.expectRevert(abi.encodeWithSelector(IEligibilityRegistry.GracePeriodOutOfRange.selector, refused[i]));
            new EligibilityRegistry(address(this), gate, refused[i]);
        }
    }

    function test_constructionRefusesAMissingRole() public {
        vm.expectRevert(IEligibilityRegistry.ZeroAddress.selector);
        new EligibilityRegistry(address(0), gate, GRACE);
        vm.expectRevert(IEligibilityRegistry.ZeroAddress.selector);
        new EligibilityRegistry(address(this), address(0), GRACE);
    }

    function test_publishesTheFirstRoot() public {
        vm.expectEmit(address(registry));
        emit IEligibilityRegistry.RootPublished(A, 1, 0, 0);
        registry.publish(A);
        assertEq(registry.current(), A, "current");
        assertTrue(registry.accepted(A), "not accepted");
        assertTrue(!registry.accepted(B), "an unknown root is accepted");
    }

    function test_E1_neverAcceptsZero() public {
        assertTrue(!registry.accepted(0), "zero before the first root");
        vm.expectRevert(IEligibilityRegistry.ZeroEligibilityRoot.selector);
        registry.publish(0);
        registry.publish(A);
        registry.publish(B);
        registry.revoke();
        assertTrue(!registry.accepted(0), "zero after a revocation");
    }

    function test_refusesRootsOutsideTheField() public {
        bytes32 aliased = bytes32(uint256(A) + R);
        vm.expectRevert(abi.encodeWithSelector(IEligibilityRegistry.EligibilityRootOutOfRange.selector, aliased));
        registry.publish(aliased);
        registry.publish(bytes32(R - 1));
        assertTrue(registry.accepted(bytes32(R - 1)), "r - 1 is in the field");
    }

    function test_E2_aRevocationCutsOffEveryOlderRootAtOnce() public {
        registry.publish(A);
        registry.publish(B);
        vm.expectEmit(address(registry));
        emit IEligibilityRegistry.RootsRevoked(2);
        registry.revoke();
        assertTrue(!registry.accepted(A), "the replaced root survives");
        assertTrue(!registry.accepted(B), "the current root survives");
        assertTrue(!registry.accepted(bytes32(uint256(B) | 1 << 255)), "the current root survives under its mark");
        assertEq(registry.current(), B, "current");
        bytes32 c = bytes32(uint256(0xc));
        registry.publish(c);
        assertTrue(registry.accepted(c), "the new root");
        assertTrue(!registry.accepted(B), "the grace period revives a revoked root");
        registry.publish(B);
        assertTrue(registry.accepted(B), "published again");
    }

    function test_E3_theCurrentRootNeverExpires() public {
        registry.publish(A);
        vm.warp(START + 100 * 365 days);
        assertTrue(registry.accepted(A), "expired");
    }

    function test_E4_aReplacedRootIsAcceptedForExactlyTheGracePeriod() public {
        registry.publish(A);
        vm.warp(START + 7);
        vm.expectEmit(address(registry));
        emit IEligibilityRegistry.RootPublished(B, 1, A, uint64(START + 7 + GRACE));
        registry.publish(B);
        vm.warp(START + 7 + GRACE - 1);
        assertTrue(registry.accepted(A), "too short");
        vm.warp(START + 7 + GRACE);
        assertTrue(!registry.accepted(A), "too long");
        assertTrue(registry.accepted(B), "the current root");
    }

    function test_aRootPublishedAgainIsCurrentAgain() public {
        registry.publish(A);
        registry.publish(B);
        registry.publish(A);
        vm.warp(START + GRACE);
        assertTrue(registry.accepted(A), "its old expiry still counts");
        assertTrue(!registry.accepted(B), "replaced");
    }

    function test_publishingTheCurrentRootAgainDoesNotExpireIt() public {
        registry.publish(A);
        registry.publish(A);
        vm.warp(START + 2 * GRACE);
        assertTrue(registry.accepted(A), "expired");
    }

    function test_onlyTheGatePublishesAndRevokes() public {
        vm.stopPrank();
        bytes memory refusal = abi.encodeWithSelector(
            IAccessControl.AccessControlUnauthorizedAccount.selector, address(this), keccak256("PUBLISHER_ROLE")
        );
        vm.expectRevert(refusal);
        registry.publish(A);
        vm.expectRevert(refusal);
        registry.revoke();
    }

    /// @dev The definition of protocol §4 against a run of random publications and revocations.
    function testFuzz_followsTheDefinition(uint256 seed) public {
        uint64 epoch = 1;
        bytes32 current = 0;
        uint64[5] memory rootEpoch;
        uint256[5] memory expiresAt;
        uint256 time = START;
        for (uint256 step = 0; step < 24; step++) {
            seed = uint256(keccak256(abi.encode(seed)));
            time += seed % 2 hours;
            vm.warp(time);
            uint256 choice = (seed >> 32) % 5;
            if (choice == 0) {
                registry.revoke();
                epoch++;
            } else {
                if (current != 0 && uint256(current) != choice) expiresAt[uint256(current)] = time + GRACE;
                current = bytes32(choice);
                rootEpoch[choice] = epoch;
                expiresAt[choice] = 0;
                registry.publish(current);
            }
            for (uint256 root = 1; root < 5; root++) {
                bool expected = rootEpoch[root] == epoch && (uint256(current) == root || time < expiresAt[root]);
                assertTrue(registry.accepted(bytes32(root)) == expected, "accepted");
            }
        }
    }
}
