// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {SpendCall} from "../../solidity/interfaces/IShieldedPool.sol";
import {SpendAuthorization} from "../../solidity/lib/SpendAuthorization.sol";

contract SpendAuthorizationHarness {
    function requireValid(SpendCall calldata operation) external pure {
        SpendAuthorization.requireValid(operation);
    }

    function requireValidUpTo(SpendCall calldata operation, uint160 mask) external pure {
        SpendAuthorization.requireValidUpTo(operation, mask);
    }
}
