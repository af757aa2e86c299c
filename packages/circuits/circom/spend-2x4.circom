// SPDX-License-Identifier: MIT
pragma circom 2.2.0;

include "spend.circom";

component main {public [D, z, y]} = Spend(2, 4, 32, 31, TAG_OP_2x4());
