// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";

/// @dev What a payer without a pool would use: one transaction, everybody and every amount public. Only
/// measured, to have something to set the pool's gas beside.
contract PublicBatchTransfer {
    using SafeERC20 for IERC20;

    function pay(IERC20 token, address[] calldata recipients, uint256[] calldata amounts) external {
        for (uint256 i = 0; i < recipients.length; i++) {
            token.safeTransferFrom(msg.sender, recipients[i], amounts[i]);
        }
    }
}
