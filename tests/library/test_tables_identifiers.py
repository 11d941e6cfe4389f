"""Columns that identify a record are recognised by name, by pattern and by uniqueness, and measurements are not."""

import uuid

import numpy as np
import pandas as pd
import pytest

from dpml.tables.cells import identifier_reason, identifies

N = 60
RNG = np.random.default_rng(3)


@pytest.mark.parametrize(
    "name",
    [
        "customerID", "PassengerId", "RespId", "__index_level_0__", "row_id", "uuid", "ID", "id_client", "CUSTOMERID",
        "userid", "EmployeeNumber", "patient_nbr", "Unnamed: 0", "Surname", "LastName", "e-mail", "Respondent ID",
    ],
)  # fmt: skip
def test_identifier_names_are_recognised(name):
    assert identifies(name)
    assert identifier_reason(name, pd.Series(range(N))) == "name"


@pytest.mark.parametrize(
    "name",
    [
        "paid", "body_mass_index", "PhoneService", "number_of_children", "valid", "humid", "EmployeeCount",
        "job_name", "",
    ],
)  # fmt: skip
def test_names_of_measurements_are_not_identifiers(name):
    assert not identifies(name)


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ([str(uuid.UUID(int=int(i))) for i in RNG.integers(0, 2**60, N)], "pattern"),
        ([f"person{i}@example.org" for i in range(N)], "pattern"),
        ([f"{i:04}-ABCD" for i in range(N)], "unique"),
        (range(1000, 1000 + N), "unique"),
        (RNG.permutation(N), "unique"),
        (np.cumsum(RNG.integers(1, 1000, N)), "unique"),
        ([float(i) for i in range(N)] + [np.nan], "unique"),
        # what people measure
        (RNG.integers(18, 90, N), None),
        (RNG.permutation(10**6)[:N], None),
        (RNG.normal(size=N), None),
        (RNG.choice(["north", "south"], N), None),
        ([f"a text of {i} words" for i in range(N)], None),
        ([f"2024-01-{i % 28 + 1:02}T{i:02}:00" for i in range(N)], None),
        ([True, False] * 30, None),
        ([], None),
        (range(5), None),
    ],
)
def test_values_of_an_identifier_are_recognised(values, reason):
    assert identifier_reason("x", pd.Series(values)) == reason


def test_a_year_of_each_record_is_no_identifier():
    assert identifier_reason("Year", pd.Series(range(1950, 2020))) is None


def test_a_flag_with_the_name_of_an_identifier_is_none():
    assert identifies("has_email")
    assert identifier_reason("has_email", pd.Series([0, 1] * N)) is None
