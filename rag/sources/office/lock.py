"""Office files behind a password, opened with msoffcrypto-tool."""

from __future__ import annotations

import io

from rag.errors import SourceError
from rag.types import Remedy


def unlocked(data: bytes, passwords: tuple[str, ...]) -> bytes:
    """The file without its password.

    Args:
        data: An encrypted Office file.
        passwords: Tried in turn.

    Raises:
        SourceError: None of them fits, or the way it is encrypted is not known.
    """
    import msoffcrypto
    from msoffcrypto.exceptions import DecryptionError, FileFormatError, InvalidKeyError, ParseError

    for password in passwords:
        result = io.BytesIO()
        try:
            file = msoffcrypto.OfficeFile(io.BytesIO(data))
            file.load_key(password=password)
            file.decrypt(result)
        except InvalidKeyError:
            continue
        except (DecryptionError, FileFormatError, ParseError, OSError, ValueError, KeyError, IndexError) as error:
            raise SourceError(
                f"The file is encrypted in a way that cannot be undone here: {str(error).rstrip('.')}.",
                "Save a copy without the password.",
            ) from error
        return result.getvalue()
    wrong = "None of the passwords that were given opens it." if passwords else "Give its password."
    raise SourceError("The file is encrypted and wants a password.", wrong, Remedy.PASSWORD)
