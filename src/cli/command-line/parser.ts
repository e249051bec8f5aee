/**
 * The parser, but it refuses a flag given twice with two values, of which commander would keep the last and lose the others, and
 * a flag in the place of another's value, which was a variable that a script forgot to set.
 */

import { Command } from 'commander';
import type { OptionValueSource, ParseOptionsResult } from 'commander';

import { BillingError } from '../../errors.ts';
import { globalFlags } from './global-flags.ts';

export class Parser extends Command {
  override createCommand(name?: string): Parser {
    return new Parser(name);
  }

  override parseOptions(argv: string[]): ParseOptionsResult {
    const flagOf = (word = '') => this.options.find(({ long }) => long === word.split('=', 1)[0]);
    for (const [index, word] of argv.entries()) {
      if (word === '--') break;
      const flag = this.options.find(({ long, short }) => word === long || word === short);
      const next = argv[index + 1];
      if (flag?.required !== true || (next !== '--' && flagOf(next) === undefined)) continue;
      this.error(`error: option '${flag.flags}' argument missing`, { code: 'commander.optionMissingArgument' });
    }
    return super.parseOptions(argv);
  }

  /** Lists collect their values, and a repeated value changes nothing: both are allowed. */
  override setOptionValueWithSource(key: string, value: unknown, source: OptionValueSource): this {
    const before = this.getOptionValue(key) as unknown;
    const isOther = value !== before && (typeof value === 'string' || typeof before === 'string');
    if (isOther && source === 'cli' && this.getOptionValueSource(key) === 'cli' && !lastCounts(key)) {
      const flag = this.options.find((option) => option.attributeName() === key)?.long ?? key;
      throw new BillingError('usage', `${flag} was given twice, with two values`);
    }
    return super.setOptionValueWithSource(key, value, source);
  }
}

function lastCounts(key: string): boolean {
  return globalFlags.some((flag) => flag.name === key && flag.lastCounts === true);
}
