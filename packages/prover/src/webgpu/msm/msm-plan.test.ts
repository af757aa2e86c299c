import { describe, expect, test } from 'vitest';
import { chooseWindowPlan, computeWindowPlan, planMsm } from './msm-plan.ts';

const gib = 2 ** 30;

describe('windows of signed digits', () => {
  test.each([2, 5, 8, 13, 16, 17, 22])('%i bits hold every scalar below (r + 1) / 2', (bits) => {
    const { windows, groups, tables, buckets } = computeWindowPlan(bits, 1);
    // The largest number that digits up to 2^(bits-1) can represent, without a carry out of the last.
    expect(bits * windows).toBeGreaterThanOrEqual(254);
    expect([groups, tables, buckets]).toEqual([windows, 1, 2 ** (bits - 1)]);
  });

  test('tables share the digits, and no unneeded table is kept', () => {
    for (let tables = 1; tables <= 20; tables++) {
      const plan = computeWindowPlan(16, tables);
      expect(plan.tables).toBeLessThanOrEqual(tables);
      expect(plan.tables * plan.groups).toBeGreaterThanOrEqual(plan.windows);
      expect((plan.tables - 1) * plan.groups).toBeLessThan(plan.windows);
    }
    expect(computeWindowPlan(16, 100)).toMatchObject({ tables: 16, groups: 1 });
  });

  test('more memory never increases digits and groups; with little memory only the points are stored', () => {
    const limits = { points: 2 ** 18, pointBytes: 64, bindingBytes: 4 * gib, density: 1 };
    expect(chooseWindowPlan({ ...limits, tableBudgetBytes: 0 }).tables).toBe(1);
    const rich = chooseWindowPlan({ ...limits, tableBudgetBytes: gib });
    expect(rich.groups).toBe(1);
    expect(rich.tables * limits.points * 64).toBeLessThanOrEqual(gib);
    // 15 digits of 17 bits are cheaper than 13 of 20: fewer additions to points, but 2^19 buckets to add up.
    expect(rich.bits).toBeGreaterThanOrEqual(16);
    expect(rich.bits).toBeLessThanOrEqual(18);
  });

  test('digits narrower than two bits or wider than 22 are refused', () => {
    expect(() => computeWindowPlan(1, 1)).toThrow(RangeError);
    expect(() => computeWindowPlan(23, 1)).toThrow(RangeError);
  });
});

describe('division of a sum into parts', () => {
  const limits = {
    group: 'g1',
    bindingBytes: 128 * 2 ** 20,
    tableBudgetBytes: 0,
    density: 1,
    tuning: {},
  } as const;

  test('the parts hold all points and every buffer fits a small device', () => {
    for (const points of [1, 2, 3, 1000, 2 ** 16 + 1, 2 ** 20, 5_000_000]) {
      const plans = planMsm(points, limits);
      expect(plans.reduce((sum, plan) => sum + plan.params.points, 0)).toBe(points);
      for (const { needs, params } of plans) {
        for (const bytes of Object.values(needs)) {
          expect(bytes).toBeLessThanOrEqual(limits.bindingBytes);
        }
        // Every segment has a place, for any number of digits that are not zero.
        for (const entries of [1, 17, params.points, params.points * params.windows]) {
          const even = Math.ceil(entries / params.segments_wanted);
          const length = Math.min(Math.max(even, params.segment_least), params.segment_most);
          const segments = Math.ceil(entries / length);
          expect(segments).toBeLessThanOrEqual(params.segment_room);
          expect(segments).toBeLessThanOrEqual(params.slices * params.slice_segments);
        }
      }
    }
  });

  test('no points give no parts', () => {
    expect(planMsm(0, limits)).toEqual([]);
  });
});
