/** The parser, but it refuses a flag given twice with two values: commander would keep the last and lose the others. */

import { Command } from 'commander';
import type { OptionValueSource } from 'commander';

import { BillingError } from '../../errors.ts';
import { globalFlags } from './global-flags.ts';

export class Parser extends Command {
  override createCommand(name?: string): Parser {
    return new Parser(name);
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
