#!/usr/bin/env node
import '../dist/pool-contracts.js';
