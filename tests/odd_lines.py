"""Lines of a CSV file that cannot be read as a record, as one person may have written them."""

ODD = {
    "ragged": b"1,2",
    "one field more": b"30,basic,1,yes,5",
    "Latin-1": b"30,b\xe4sic,1,yes",
    "NUL": b"30,ba\0sic,1,yes",
    "a quotation mark that is not closed": b'30,"basic,1,yes',
    "text after a quotation mark": b'30,"basic"x,1,yes',
    "a quotation mark alone": b'"',
    "10,001 characters": b"30," + b"b" * 10_001 + b",1,yes",
    "more than a field of csv may have": b'30,"' + b"b" * 140_000 + b'",1,yes',
    "more than a line may have": b"b" * 1_000_001,
    "nothing in it": b",,,",
    "blank": b"",
    "spaces": b"   ",
    "a return in it": b"30,basic\r1,yes",
    "another encoding": "30,basic,1,yes".encode("utf-16"),
    "odd and wrong numbers": b"1e999,-,0x1,Yes",
    "the line with the names": b"age,plan,spent,left",
}
