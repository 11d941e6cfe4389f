"""Lessons: each a YAML file that a teacher can write, whose steps are states of the app's pages and questions.

The guide docs/how_to/teach.md describes the format of a lesson.
"""

from dpml_app.lessons.classrooms import ClassSession
from dpml_app.lessons.panel import BESIDE, NOWHERE, LessonPosition, position_of
from dpml_app.lessons.read import FOLDER, InvalidLesson, Lesson, Step, lessons, read_lesson

__all__ = [
    "BESIDE",
    "FOLDER",
    "NOWHERE",
    "ClassSession",
    "InvalidLesson",
    "Lesson",
    "LessonPosition",
    "Step",
    "lessons",
    "position_of",
    "read_lesson",
]
