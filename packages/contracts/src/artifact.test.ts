import { describe, expect, it } from 'vitest';
import { linkBytecode } from './artifact.ts';
import { shieldedPoolArtifact } from './generated/shielded-pool.ts';

const library = `0x${'Ab'.repeat(20)}`.toLowerCase();

describe('linkBytecode', () => {
  const artifact = {
    abi: [],
    bytecode: `0x60${'00'.repeat(20)}61${'00'.repeat(20)}62`,
    links: [
      { library: 'Lib', start: 1 },
      { library: 'Lib', start: 22 },
    ],
  };

  it('writes the address into every placeholder and changes nothing else', () => {
    const bare = library.slice(2);
    expect(linkBytecode(artifact, { Lib: library })).toBe(`0x60${bare}61${bare}62`);
  });

  it('refuses a placeholder without an address', () => {
    expect(() => linkBytecode(artifact)).toThrow(
      expect.objectContaining({ code: 'invalid_deployment' }),
    );
  });

  it('finds the tree library, and no other, in the pool', () => {
    expect(shieldedPoolArtifact.links.length).toBeGreaterThan(0);
    expect(new Set(shieldedPoolArtifact.links.map((link) => link.library))).toEqual(
      new Set(['NoteTree']),
    );
  });
});
