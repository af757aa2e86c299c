/**
 * Whether a PostgreSQL server keeps acknowledged writes through a power cut. What it has acknowledged (sealed notes, settlements, jobs,
 * revocations) cannot be requested again.
 *
 * @module
 */

/** @returns the names of the settings that are off */
export async function findWeakSettings(
  query: (text: string) => Promise<{ readonly rows: readonly { readonly name: string }[] }>,
): Promise<readonly string[]> {
  const { rows } = await query(`select name from pg_settings
    where name in ('fsync', 'full_page_writes', 'synchronous_commit') and setting = 'off'
    order by name`);
  return rows.map(({ name }) => name);
}
