// The flat configuration file: what is read, and that nothing is skipped or cut in silence.
import { describe, expect, it } from 'vitest';
import { parseEnvFile } from './env-file.ts';

describe('parseEnvFile', () => {
  it.each([
    ['lines of Windows', 'A=1\r\nB=2\r\n', { A: '1', B: '2' }],
    ['lines of an old Mac', 'A=1\rB=2\r', { A: '1', B: '2' }],
    ['a byte order mark', '\uFEFFA=1\nB=2', { A: '1', B: '2' }],
    ['spaces around everything', '  A = 1 \n\tB\t=\t2\t', { A: '1', B: '2' }],
    ['comments', '# A=0\n  # B=0\nA=1 # one\nB= # none', { A: '1', B: '' }],
    ['export', 'export A=1\nexport  B=2', { A: '1', B: '2' }],
    ['quotes of three kinds', 'A="1 # 2" # c\nB=\'3\'\nC=`4`', { A: '1 # 2', B: '3', C: '4' }],
    ['equals signs in a value', 'A=b==', { A: 'b==' }],
    ['quotes inside a value', `A=it's\nB={"k":"v"}`, { A: "it's", B: '{"k":"v"}' }],
    ['dollars as they are', 'A=$B\nB=1', { A: '$B', B: '1' }],
    ['no last line feed', 'A=1', { A: '1' }],
    ['nothing', '', {}],
  ])('reads %s', (_what, content, values) => {
    expect(parseEnvFile(content, '/f')).toEqual({ values, problems: [] });
  });

  it('cuts no secret at a number sign inside it', () => {
    expect(parseEnvFile('A=ab#cd\nB=#ef', '/f').values).toEqual({ A: 'ab#cd', B: '#ef' });
  });

  it('never takes the next line for the value of an empty one', () => {
    // Otherwise the edge token became a path, and `config check` showed it.
    const { values } = parseEnvFile('DISBURSE_CHAINS_FILE= \nDISBURSE_PLATFORM_TOKEN=t', '/f');
    expect(values).toEqual({ DISBURSE_CHAINS_FILE: '', DISBURSE_PLATFORM_TOKEN: 't' });
  });

  it.each([
    ['a colon for the equals sign', 'DISBURSE_SEND_MAX_AMOUNT: canary', 'is not NAME=value'],
    ['no equals sign', 'DISBURSE_SEND_MAX_AMOUNT canary', 'is not NAME=value'],
    ['no name', '=canary', 'is not NAME=value'],
    ['two words before it', 'set DISBURSE_CHAIN=canary', 'is not NAME=value'],
    ['a quote left open', 'DISBURSE_CHAIN="canary\n', 'DISBURSE_CHAIN: opens a quote'],
    ['text after a quote', 'DISBURSE_CHAIN="canary"x', 'DISBURSE_CHAIN: has something after'],
  ])('refuses %s by its line, without showing it', (_what, line, expected) => {
    const { problems } = parseEnvFile(`# first\n${line}`, '/f');
    expect(problems).toHaveLength(1);
    expect(problems[0]?.message).toMatch(/^\/f, line 2/);
    expect(problems[0]?.message).toContain(expected);
    expect(JSON.stringify(problems)).not.toContain('canary');
  });

  it('refuses a name that stands twice, and says where', () => {
    const { problems } = parseEnvFile(
      'DISBURSE_SEND_MAX_AMOUNT=5\n\nDISBURSE_SEND_MAX_AMOUNT=canary\ncanary=1\ncanary=2',
      '/f',
    );
    expect(problems).toEqual([
      {
        variable: 'DISBURSE_SEND_MAX_AMOUNT',
        message:
          '/f, line 3, DISBURSE_SEND_MAX_AMOUNT: sets again what line 1 sets; keep one of them',
      },
      {
        variable: 'AGENT_ENV',
        message: '/f, line 5: sets again what line 4 sets; keep one of them',
      },
    ]);
  });
});
