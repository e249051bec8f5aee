/** The parser, refusing a flag that is given twice: it would keep the last value and lose the others. */

import { Command } from 'commander';
import type { OptionValueSource } from 'commander';

import { BillingError } from '../../errors.ts';

export class Parser extends Command {
  override createCommand(name?: string): Parser {
    return new Parser(name);
  }

  /** Lists collect their values, and a switch that is given again says the same. */
  override setOptionValueWithSource(key: string, value: unknown, source: OptionValueSource): this {
    const isAgain = source === 'cli' && this.getOptionValueSource(key) === 'cli';
    if (isAgain && [value, this.getOptionValue(key)].some((each) => typeof each === 'string')) {
      const flag = this.options.find((option) => option.attributeName() === key)?.long ?? key;
      throw new BillingError('usage', `${flag} was given twice`);
    }
    return super.setOptionValueWithSource(key, value, source);
  }
}
