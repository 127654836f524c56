import { PasswordInput, TextInput } from "@mantine/core";

export interface NewAccount {
  name: string;
  email: string;
  password: string;
}

interface AccountFieldsProps {
  account: NewAccount;
  /** Problems by field. */
  problems: Record<string, string>;
  onChange: (account: NewAccount) => void;
}

/** Name, e-mail address and password of the first account. */
export function AccountFields({ account, problems, onChange }: AccountFieldsProps) {
  return (
    <>
      <TextInput
        label="Name"
        autoComplete="name"
        maxLength={100}
        value={account.name}
        error={problems.name}
        onChange={(event) => onChange({ ...account, name: event.currentTarget.value })}
        autoFocus
        required
      />
      <TextInput
        label="E-mail address"
        description="You sign in with it. Arcadia sends no e-mail."
        type="email"
        autoComplete="username"
        value={account.email}
        error={problems.email}
        onChange={(event) => onChange({ ...account, email: event.currentTarget.value })}
        required
      />
      <NewPasswordInput
        value={account.password}
        error={problems.password}
        onChange={(password) => onChange({ ...account, password })}
      />
    </>
  );
}

interface NewPasswordInputProps {
  value: string;
  error: string | undefined;
  autoFocus?: boolean;
  onChange: (password: string) => void;
}

/** Input of a new password. */
export function NewPasswordInput({ value, error, autoFocus = false, onChange }: NewPasswordInputProps) {
  return (
    <PasswordInput
      label="Password"
      description="At least 12 characters"
      autoComplete="new-password"
      value={value}
      error={error}
      onChange={(event) => onChange(event.currentTarget.value)}
      autoFocus={autoFocus}
      required
    />
  );
}
