import { expect, test } from 'vitest';
import { ConfigError, describeSettings, loadConfig } from '../../src/platform/config.ts';

const NOTHING_GOOD = ['\u0001 nonsense', '-1', '1e99', 'ftp://nonsense'];
// Any text is one.
const FREE = ['HOST', 'DATA_DIR', 'REDIS_PREFIX', 'QUEUE_BOARD_PASSWORD', 'CONNECTORS_FILE'];

const complaintAbout = (name: string, value: string): string | undefined => {
  try {
    loadConfig({ [name]: value });
    return undefined;
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    return (error as Error).message;
  }
};

test.each(describeSettings().map(({ name }) => name))('%s: a wrong setting is explained with an example', (name) => {
  const complaints = NOTHING_GOOD.flatMap((value) => complaintAbout(name, value) ?? []);
  expect(complaints.length > 0).toBe(!FREE.includes(name));
  for (const complaint of complaints) {
    expect(complaint).toMatch(
      new RegExp(`^the settings are not valid: ${name}: (must|takes) .*, for example ${name}=\\S+`),
    );
    expect(complaint).not.toMatch(
      /invalid (input|option|string|url)|too (big|small)|expected|received|pattern|nonsense/i,
    );
  }
});

test('DATABASE_PREPARE=false and prepare=false in the address mean the same', () => {
  const address = (DATABASE_URL: string) => loadConfig({ DATABASE_URL, DATABASE_PREPARE: 'false' }).DATABASE_URL;
  expect(address('postgres://u:p@a:1,b:2/x')).toBe('postgres://u:p@a:1,b:2/x?prepare=false');
  expect(address('postgres://a/x?sslmode=require')).toBe('postgres://a/x?sslmode=require&prepare=false');
  expect(address('postgres://a/x?prepare=false&sslmode=require')).toBe('postgres://a/x?prepare=false&sslmode=require');
  expect(loadConfig({ DATABASE_PREPARE: 'false' }).DATABASE_URL).toBe('');
  const cells = {
    DATABASE_URL: 'postgres://h/d',
    CELL_DATABASE_URLS: 'a=postgres://a/d b=postgres://b/d?prepare=false',
  };
  expect(loadConfig({ ...cells, DATABASE_PREPARE: 'false' }).CELL_DATABASE_URLS).toEqual([
    { name: 'a', url: 'postgres://a/d?prepare=false' },
    { name: 'b', url: 'postgres://b/d?prepare=false' },
  ]);
  expect(loadConfig({ DATABASE_URL: 'postgres://a/x' }).DATABASE_URL).toBe('postgres://a/x');
});

test('each example of a setting is an accepted value', () => {
  for (const { name } of describeSettings()) {
    const [complaint] = NOTHING_GOOD.flatMap((value) => complaintAbout(name, value) ?? []);
    const example = complaint?.split(`, for example ${name}=`)[1];
    // Examples of keys are commands that make one, and that of a font is a file of another machine.
    if (example === undefined || example.includes('$(') || name === 'DOCUMENT_FONT') continue;
    expect(complaintAbout(name, example), name).toBeUndefined();
  }
});

test('several bad settings are named together', () => {
  expect(() => loadConfig({ PORT: 'x', LOG_LEVEL: 'loud' })).toThrow(/PORT: must .*; LOG_LEVEL: must be one of trace/);
});
