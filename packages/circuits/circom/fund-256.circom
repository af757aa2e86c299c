// SPDX-License-Identifier: MIT
pragma circom 2.2.0;

include "fund.circom";

component main {public [D, z, y]} = Fund(256);
