/**
 * `disburse-agent roster template`: the header of a roster. A line below it would be paid, so there is no example.
 *
 * @module
 */

/** `name` is not read by a payment. Exports and payslips show it. */
export const rosterTemplate = 'name,address,amount,memo';
