/** Outcomes as JUnit XML for CI systems: a test case for each expectation. */

import { safe } from '../terminal/safe-text.ts';
import type { Outcome } from './expectations.ts';

export interface JunitReport {
  readonly name: string;
  readonly fileName: string;
  readonly outcomes: readonly Outcome[];
  /** What stopped the run, if anything did. */
  readonly failure: string | undefined;
}

const declaration = '<?xml version="1.0" encoding="UTF-8"?>\n';

/** What every report begins with, and by which one of an earlier run is known. */
export const junitHeader = `${declaration}<testsuites`;

/** The XML document. Without times, so that equal runs write equal files. */
export function junitXml({ name, fileName, outcomes, failure }: JunitReport): string {
  const failed = outcomes.filter(({ isMet }) => !isMet).length;
  const stopped =
    failure === undefined
      ? []
      : [
          element('testcase', { name: 'run', classname: name, file: fileName }, [
            element('error', { message: failure }, []),
          ]),
        ];
  const counts = {
    name,
    tests: String(outcomes.length + stopped.length),
    failures: String(failed),
    errors: String(stopped.length),
  };
  const cases = [...outcomes.map((outcome) => testCase(outcome, { name, fileName })), ...stopped];
  return `${declaration}${element('testsuites', counts, [element('testsuite', counts, cases)])}\n`;
}

function testCase(outcome: Outcome, { name, fileName }: Pick<JunitReport, 'name' | 'fileName'>): string {
  const { line, what, at, expected, actual, isMet } = outcome;
  const facts = { name: `${what} at ${at} ${expected}`, classname: name, file: fileName, line: String(line) };
  const message = `${fileName}:${line}: ${what}: is ${actual}, must be: ${expected}`;
  return element('testcase', facts, isMet ? [] : [element('failure', { message }, [])]);
}

function element(name: string, attributes: Readonly<Record<string, string>>, children: readonly string[]): string {
  const start = [name, ...Object.entries(attributes).map(([each, value]) => `${each}="${escaped(value)}"`)].join(' ');
  if (children.length === 0) return `<${start}/>`;
  return `<${start}>\n${children.join('\n').replaceAll(/^/gm, '  ')}\n</${name}>`;
}

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** Makes control characters visible, which XML cannot hold at all. */
function escaped(text: string): string {
  return safe(text).replaceAll(/[&<>"\uFFFE\uFFFF]/g, (character) => entities[character] ?? '\uFFFD');
}
